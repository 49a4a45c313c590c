from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from scoring.core.contract import Result, forced_fail
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard, fail_shard
from scoring.models import Case, CaseVerdict, Output, OutputSet, Run, RunState, Score, Shard
from tests.conftest import MakeDataset
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish, rows_of, run_all, verdicts_of
from tests.support.fixtures.spy import Spy, reply_of

pytestmark = pytest.mark.django_db


def test_every_output_gets_a_row_per_scorer_and_a_verdict(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes", "YES", "no"], make_scorer("exact_match"), make_scorer("levenshtein"))
    run_all(run)
    assert [(row[0], row[1], *row[3:6]) for row in rows_of(run)] == [
        ("exact_match", "case-1", 0, 1.0, 0),
        ("exact_match", "case-2", 0, 0.0, 1),
        ("exact_match", "case-3", 0, 0.0, 1),
        ("levenshtein", "case-1", 0, 1.0, 0),
        ("levenshtein", "case-2", 0, 1.0, 0),
        ("levenshtein", "case-3", 0, 0.0, 1),
    ]
    assert verdicts_of(run) == [(1, 0, "pass"), (2, 0, "fail"), (3, 0, "fail")]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("1", "1", "pass"),
        ("1", "skip", "pass"),
        ("1", "error", "error"),
        ("1", "0", "fail"),
        ("skip", "skip", "skipped"),
        ("skip", "error", "error"),
        ("error", "error", "error"),
        ("error", "0", "fail"),
        ("skip", "0", "fail"),
    ],
)
def test_a_case_fails_over_errs_over_passes_over_is_skipped(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy, first: str, second: str, verdict: str
) -> None:
    spy.answers["one"] = iter([reply_of(first), reply_of(second)])
    run = make_run(["one"], make_scorer("spy", "a"), make_scorer("spy", "b", label="b"))
    run_all(run)
    assert verdicts_of(run) == [(1, 0, verdict)]


def test_executing_a_shard_twice_changes_nothing(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes", "no"], make_scorer("exact_match"))
    run_all(run)
    before = list(Score.objects.values()), list(CaseVerdict.objects.values())
    shard = Shard.objects.get()
    execute_shard(shard.pk)
    assert (list(Score.objects.values()), list(CaseVerdict.objects.values())) == before
    assert Shard.objects.get().done_at == shard.done_at


def test_a_shard_that_another_process_finished_meanwhile_is_left_alone(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    run = make_run(["1", "0"], make_scorer("spy"))
    planning.plan_attempt(run)
    shard = Shard.objects.get()

    def the_other_wins() -> None:
        spy.on_asked = lambda: None
        execute_shard(shard.pk)

    spy.on_asked = the_other_wins
    execute_shard(shard.pk)
    assert spy.asked == ["1", "0", "1", "0"]
    assert [row[4] for row in rows_of(run)] == [1.0, 0.0]


def test_a_failed_write_leaves_neither_scores_nor_a_done_shard(
    make_run: MakeRun, make_scorer: MakeScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(["yes"], make_scorer("exact_match"))
    bad = (1, 1, 0, None, None, "", "", "{}")  # scored, yet without a score
    monkeypatch.setattr("scoring.models.runs.result_rows.score_rows", lambda *_: [bad])
    monkeypatch.setattr("scoring.models.runs.result_rows.case_verdicts", lambda _: [0])
    with pytest.raises(IntegrityError, match=r"(?i)check"):
        run_all(run)
    assert Score.objects.count() == CaseVerdict.objects.count() == 0
    assert Shard.objects.get().done_at is None


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1.5", "-0.5"])
def test_a_number_that_is_no_score_is_stored_as_an_error(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy, value: str
) -> None:
    run = make_run([value, "1"], make_scorer("spy"))
    run_all(run)
    assert [row[3:7] for row in rows_of(run)] == [
        (1, None, None, "score_out_of_range"),
        (0, 1.0, 0, ""),
    ]
    assert verdicts_of(run) == [(1, 0, "error"), (2, 0, "pass")]


def test_a_number_that_is_not_finite_in_metadata_is_stored_as_null(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    spy.answers["1"] = Result("scored", 1.0, None, "", {"ratio": float("nan"), "n": 10**30})
    run = make_run(["1"], make_scorer("spy"))
    run_all(run)
    stored = Score.objects.get().metadata_json
    assert json.loads(stored) == {"ratio": None, "n": 10**30}
    assert "NaN" not in stored


def test_a_case_without_expected_fails_and_is_flagged(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes", "yes"], make_scorer("exact_match", threshold=0.0), expected=["yes", ...])
    run_all(run)
    flags = CaseVerdict.objects.order_by("position").values_list("verdict", "missing_expected")
    assert list(flags) == [(0, False), (1, True)]


def test_an_output_that_was_not_produced_is_an_error(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes", None], make_scorer("exact_match"))
    run_all(run)
    assert rows_of(run)[1][3:7] == (1, None, None, "no_output")
    assert verdicts_of(run) == [(1, 0, "pass"), (2, 0, "error")]


def test_json_is_compared_as_json_and_large_integers_exactly(
    make_run: MakeRun, make_scorer: MakeScorer, make_dataset: MakeDataset
) -> None:
    huge = 2**64 + 1
    version = make_dataset([{"expected": huge}, {"expected": "4"}, {"expected": {"a": 1}}])
    outputs = OutputSet.objects.create(version=version, series="a", state="ready")
    texts = [str(huge), "4", '{"a":1}']
    Output.objects.bulk_create(
        Output(output_set=outputs, case=case, text=text, is_json=True)
        for case, text in zip(version.cases.all(), texts, strict=True)
    )
    run = make_run(outputs, make_scorer("exact_match"))
    run_all(run)
    assert [row[4] for row in rows_of(run)] == [1.0, 1.0, 1.0]


def test_outputs_of_another_set_inside_the_range_of_ids_are_not_scored(
    make_run: MakeRun, make_scorer: MakeScorer, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"expected": "yes"}] * 4)
    mine, other = (OutputSet.objects.create(version=version, state="ready") for _ in range(2))
    for case in version.cases.all():
        Output.objects.create(output_set=mine, case=case, text="yes")
        Output.objects.create(output_set=other, case=case, text="no")
    run = make_run(mine, make_scorer("exact_match"))
    run_all(run)
    assert set(Score.objects.values_list("output__output_set", flat=True)) == {mine.pk}
    assert verdicts_of(run) == [(position, 0, "pass") for position in (1, 2, 3, 4)]


def test_trials_of_one_case_are_kept_apart(
    make_run: MakeRun, make_scorer: MakeScorer, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"expected": "yes"}])
    outputs = OutputSet.objects.create(version=version, series="a", state="ready")
    for trial, text in enumerate(["yes", "no"]):
        case = version.cases.get()
        Output.objects.create(output_set=outputs, case=case, trial=trial, text=text)
    run = make_run(outputs, make_scorer("exact_match"))
    run_all(run)
    assert verdicts_of(run) == [(1, 0, "pass"), (1, 1, "fail")]


@pytest.mark.parametrize("count", [1, 50])
def test_the_number_of_queries_does_not_depend_on_the_outputs(
    make_run: MakeRun, make_scorer: MakeScorer, count: int
) -> None:
    run = make_run(["yes"] * count, make_scorer("exact_match"), make_scorer("levenshtein"))
    planning.plan_attempt(run)
    with CaptureQueriesContext(connection) as queries:
        execute_shard(Shard.objects.get().pk)
    reads = [query for query in queries if query["sql"].startswith("SELECT")]
    assert len(reads) == 5  # ours to find the shard; it, its outputs, its scorers, their donors


@pytest.mark.sqlite
def test_sqlite_reads_a_shard_by_its_range_of_ids(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    """Reading it by the set's index would walk the whole set for every shard."""
    run = make_run(["yes"] * 5, make_scorer("exact_match"))
    planning.plan_attempt(run)
    with CaptureQueriesContext(connection) as queries:
        execute_shard(Shard.objects.get().pk)
    (read,) = [query["sql"] for query in queries if "input_json" in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {read}")
        steps = [row[3] for row in cursor.fetchall()]
    assert "INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in steps[0]


def test_giving_up_a_shard_turns_all_its_scores_into_errors(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes", "no"], make_scorer("exact_match"), make_scorer("levenshtein"))
    planning.plan_attempt(run)
    fail_shard(Shard.objects.get().pk, "worker_crashed", "the process died")
    assert {row[3:8] for row in rows_of(run)} == {
        (1, None, None, "worker_crashed", "the process died")
    }
    assert verdicts_of(run) == [(1, 0, "error"), (2, 0, "error")]
    assert Shard.objects.get().done_at


class TestRetry:
    def test_only_the_error_rows_are_scored_again(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["1", "error", "0"], make_scorer("spy"), make_scorer("exact_match"))
        finish(run)
        before = rows_of(run)
        spy.asked.clear()
        spy.answers["error"] = reply_of("1")
        planning.retry_errors(run, by=None)
        finish(run)
        assert spy.asked == ["error"]
        changed = [(old, new) for old, new in zip(before, rows_of(run), strict=True) if old != new]
        assert [new[:6] for _, new in changed] == [("spy", "case-2", 0, 0, 1.0, 0)]

    def test_of_a_cause_only_its_rows_are_scored_again_whatever_else_the_output_has(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        causes = [Result("error", None, None, "", {"code": code}) for code in ("late", "full")]
        scorers = make_scorer("spy"), make_scorer("spy", "b", label="b")
        run = make_run(["both", "error", "both"], *scorers)
        spy.answers["both"] = iter([causes[0], causes[0], causes[1], causes[0], reply_of("1")])
        finish(run)
        before = rows_of(run)
        codes = ["full", "service_down", "late", "late", "service_down", "late"]
        assert [row[6] for row in before] == codes
        spy.asked.clear()
        planning.retry_errors(run, by=None, code="full")
        finish(run)
        assert spy.asked == ["both"]
        changed = [(old, new) for old, new in zip(before, rows_of(run), strict=True) if old != new]
        assert [new[:6] for _, new in changed] == [("b", "case-1", 0, 0, 1.0, 0)]

    def test_the_case_verdict_follows_all_scores_of_the_case(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        scorers = make_scorer("spy"), make_scorer("exact_match")
        run = make_run(["error", "down"], *scorers, expected=["error", "else"])
        spy.answers["down"] = reply_of("error")
        finish(run)
        assert verdicts_of(run) == [(1, 0, "error"), (2, 0, "fail")]
        spy.answers.update(error=reply_of("1"), down=reply_of("1"))
        planning.retry_errors(run, by=None)
        finish(run)
        assert verdicts_of(run) == [(1, 0, "pass"), (2, 0, "fail")]
        assert (run.pass_count, run.fail_count, run.error_count) == (1, 1, 0)

    def test_what_errs_again_stays_an_error_with_the_new_reason(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["error"], make_scorer("spy"))
        finish(run)
        spy.answers["error"] = Result("error", None, None, "still down", {"code": "refused"})
        planning.retry_errors(run, by=None)
        finish(run)
        assert rows_of(run)[0][3:8] == (1, None, None, "refused", "still down")

    def test_a_retry_that_is_given_up_keeps_the_old_errors(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["error", "1"], make_scorer("spy"))
        finish(run)
        before = rows_of(run)
        planning.retry_errors(run, by=None)
        fail_shard(Shard.objects.get(done_at=None).pk, "worker_crashed", "the process died")
        assert rows_of(run) == before

    def test_executing_a_retry_twice_scores_once(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["error"], make_scorer("spy"))
        finish(run)
        planning.retry_errors(run, by=None)
        shard = Shard.objects.get(done_at=None)
        spy.asked.clear()
        execute_shard(shard.pk)
        execute_shard(shard.pk)
        assert spy.asked == ["error"]


def test_a_forced_fail_is_stored_with_its_code(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    spy.answers["1"] = forced_fail("invalid_json", "not JSON")
    run = make_run(["1"], make_scorer("spy", threshold=0.0))
    run_all(run)
    assert rows_of(run)[0][3:8] == (0, 0.0, 1, "invalid_json", "not JSON")


def test_the_case_a_scorer_sees_is_the_stored_one(
    make_run: MakeRun, make_scorer: MakeScorer, make_dataset: MakeDataset, spy: Spy
) -> None:
    stored = {
        "key": "q1",
        "input": {"question": "naïve\n☃"},
        "expected": [1, None],
        "references": ["a", "b"],
        "metadata": {"n": 1.5},
        "tags": ["x"],
    }
    version = make_dataset([stored])
    outputs = OutputSet.objects.create(version=version, series="a", state="ready")
    Output.objects.create(output_set=outputs, case=Case.objects.get(), text="1")
    run = make_run(outputs, make_scorer("spy"))
    run_all(run)
    (case,) = spy.cases
    assert case._asdict() == {
        "output": "1",
        "expected": [1, None],
        "input": {"question": "naïve\n☃"},
        "id": "q1",
        "references": ("a", "b"),
        "metadata": {"n": 1.5},
        "tags": ("x",),
        "failure": "",
    }


def test_a_run_without_outputs_has_no_shards(
    make_run: MakeRun, make_scorer: MakeScorer, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"expected": "yes"}])
    outputs = OutputSet.objects.create(version=version, series="a", state="ready")
    run: Run = make_run(outputs, make_scorer("exact_match"))
    finish(run)
    assert (run.state, run.pass_count, Shard.objects.count()) == (RunState.FINISHED, 0, 0)
