"""What lines of the log are about."""

from __future__ import annotations

import logging
from threading import Thread
from types import SimpleNamespace

from scoring.core.log_context import IdsFilter, current_ids, log_context


def filtered(**attributes: object) -> logging.LogRecord:
    record = logging.LogRecord("evalsite", logging.INFO, __file__, 1, "Done.", (), None)
    record.__dict__.update(attributes)
    assert IdsFilter().filter(record)
    return record


def test_a_line_names_the_blocks_around_it() -> None:
    with log_context(run="r-1"), log_context(shard=7):
        record = filtered()
    assert record.__dict__["ids"] == " run=r-1 shard=7"
    assert (record.__dict__["run_id"], record.__dict__["shard_id"]) == ("r-1", "7")
    assert record.__dict__["request_id"] is None


def test_outside_of_them_it_names_nothing() -> None:
    with log_context(run="r-1"):
        pass
    assert filtered().__dict__["ids"] == ""


def test_a_line_about_an_answer_names_its_request() -> None:
    """Django logs a refusal when all middleware is done."""
    record = filtered(request=SimpleNamespace(META={"HTTP_X_REQUEST_ID": "r-9"}))
    assert (record.__dict__["request_id"], record.__dict__["ids"]) == ("r-9", " request=r-9")
    assert filtered(request="a socket").__dict__["request_id"] is None


def test_the_inner_block_counts_until_its_end() -> None:
    with log_context(run="outer"):
        try:
            with log_context(run="inner"):
                assert current_ids() == {"run": "inner"}
                raise ValueError
        except ValueError:
            assert current_ids() == {"run": "outer"}


def test_another_thread_is_about_something_else() -> None:
    seen: list[object] = []
    with log_context(run="r-1"):
        thread = Thread(target=lambda: seen.append(dict(current_ids())))
        thread.start()
        thread.join()
    assert seen == [{}]
