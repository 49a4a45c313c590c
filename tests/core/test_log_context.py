"""What lines of the log are about."""

from __future__ import annotations

import logging
from threading import Thread

from scoring.core.log_context import IdsFilter, current_ids, log_context


def filtered() -> logging.LogRecord:
    record = logging.LogRecord("evalsite", logging.INFO, __file__, 1, "Done.", (), None)
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
