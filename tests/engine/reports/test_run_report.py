"""The report of a run: its figures, where it comes from, which cases it shows in which order."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.core.stats.descriptive import rate_estimate
from scoring.engine.compare.comparison import compare_runs, stored_comparison
from scoring.engine.reports import html_document
from scoring.engine.reports.run_report import run_file_name, run_report
from scoring.engine.reports.worst_cases import worst_cases
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import Generation, Output, OutputSet, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import Given, run_with
from tests.support.payloads import MARKUP, PAYLOADS
from tests.support.report_html import sound
from tests.support.run_states import CLOSE, EXACT, finished_run, queued_run
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db

Scored = Callable[..., Run]


@pytest.fixture
def scored(make_dataset: MakeDataset) -> Scored:
    """A run of one scorer's scores over cases q0, q1 …"""

    def made(*close: Given, name: str = "w46", **more: list[Given]) -> Run:
        version = make_dataset([{"key": f"q{n}"} for n in range(len(close))])
        return run_with(version, {"close": close, **more}, name=name)

    return made


def worst(run: Run, most: int = 200) -> list[str]:
    """The keys of the worst cases in order."""
    return [case.read.key for case in worst_cases(run, list(run.scorers.all()), most)]


def words(run: Run, **options: int) -> str:
    return sound(run_report(run, **options)).text  # type: ignore[arg-type]


def test_as_many_are_shown_as_are_wanted_and_the_rest_is_counted(scored: Scored) -> None:
    run = scored(*[n / 1_000 for n in range(60)], "error", 1.0)
    assert worst(run, 3) == ["q0", "q1", "q2"]
    assert "3 of 61 shown" in words(run, most=3)
    assert "61 of 61 shown" in words(run)
    assert "keep the file small" not in words(run)


def test_where_nothing_failed_it_says_so(scored: Scored) -> None:
    assert "No case failed and none has an error." in words(scored(1.0, 0.9))


def test_figures_are_those_of_the_run(scored: Scored) -> None:
    run = scored(0.2, 0.4, 0.6, 1.0, "error")
    found = words(run)
    rate = rate_estimate(2, 4)
    assert rate is not None
    assert rate.interval is not None
    low, high = (f"{share * 100:.1f}" for share in rate.interval)
    assert "0.55" in found
    assert ["50.0", "%"][0] in found
    assert (low in found, high in found) == (True, True)
    assert "4 of 5" in found
    for count, verdict in ((2, "pass"), (2, "fail"), (1, "error"), (0, "skipped")):
        assert re.search(rf"{count} ?{verdict}", found)


def test_it_tells_where_the_run_comes_from(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, alice: User
) -> None:
    outputs = make_outputs(make_dataset([{"expected": "yes"}]), ["no"], "gpt-4o")
    OutputSet.objects.filter(pk=outputs.pk).update(
        labels={"prompt": "v7"}, source_name="gpt-4o.jsonl"
    )
    Generation.objects.create(
        output_set=outputs, model="gpt-4o-mini", template="{{ input }}", parameters={"top_p": 0.5}
    )
    run = finished_run(outputs, CLOSE, EXACT)
    Run.objects.filter(pk=run.pk).update(
        created_by=alice, judge_calls=3, judge_cost_usd=0.5, judge_tokens_in=9, judge_tokens_out=4
    )
    found = words(Run.objects.get(pk=run.pk))
    for told in (
        "Answers / w46",
        "started by alice@example.org",
        "Answers, version 1, 1 case",
        "series gpt-4o, dated",
        "from gpt-4o.jsonl",
        "prompt v7",
        "gpt-4o-mini, 1 trial a case, top p 0.5",
        "single scorers",
        "close v1 at 0.7, exact v1 at 1",
        "$0.50, 3 paid calls, 9 tokens in, 4 out",
        str(run.uuid),
    ):
        assert told in found, told


def test_the_address_stands_in_it_where_it_is_known(scored: Scored) -> None:
    run, address = scored(1.0), "http://testserver/runs/here/"
    assert address in sound(run_report(run, address=address)).text
    assert str(run.uuid) not in run_report(run, address=address)


def test_a_case_shows_its_texts_what_differs_and_why(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    case = {"key": "q1", "input": "When?", "expected": "on Monday", "tags": ["billing"]}
    version = make_dataset([case, case | {"key": "q2"}])
    run = finished_run(make_outputs(version, ["on Tuesday", None]), CLOSE, EXACT)
    text = run_report(run)
    assert "on <del>Mon</del><ins>Tues</ins>day" in text
    found = sound(text)
    for told in ("When?", "billing", "4 / 10 = 0.6 < 0.7 → fail", "0 < 1 → fail"):
        assert told in found.text, told
    assert "no output is stored" in found.text
    assert found.text.count("failed") >= 1
    assert found.elements["details"] == 2


def test_of_a_json_value_the_leaves_that_lost_credit_are_shown(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    wanted = {f"k{n:02}": n for n in range(30)}
    said = '{"k29": 29, "k28": 28}'
    run = finished_run(
        make_outputs(make_dataset([{"expected": wanted}]), [said]),
        ("leaves", "json_similarity", {}),
    )
    text = run_report(run)
    assert "12 of 28 leaves that lost credit" in sound(text).text
    assert text.count("missing</span>") == 12


def test_causes_are_told_with_their_numbers(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{"expected": "a"}] * 3), ["a", None, None])
    found = words(finished_run(outputs, CLOSE))
    assert "2 no_output The output could not be produced; its error says why." in found


def test_a_long_text_is_cut_with_a_note_and_told_from_what_is_stored(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{"expected": "yes"}]), ["no " * 40_000])
    text = run_report(finished_run(outputs, CLOSE))
    assert "115,5" in text
    assert "more characters are left out" in text
    assert "&lt; 0.7 → fail" in text
    assert len(text) < 70_000


def test_the_file_stays_small_whatever_the_texts(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    """Zero-width spaces are marked one by one, quotation marks take six bytes."""
    texts = ['"\u200b' * 9_000] * 21
    cases = [{"input": text, "expected": f"not {text}"} for text in texts]
    run = finished_run(make_outputs(make_dataset(cases), texts), EXACT)
    one, twenty = (run_report(run, most=most) for most in (1, 20))
    each = (len(twenty.encode()) - len(one.encode())) / 19
    assert len(one.encode()) + 199 * each < 3_000_000
    assert "20 of 21 shown" in sound(twenty).text


def test_cases_that_do_not_fit_are_left_out_and_that_is_said(
    scored: Scored, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = scored(*[0.1] * 20)
    monkeypatch.setattr(html_document.SizeBudget.__init__, "__defaults__", (10_000,))
    found = words(run)
    shown = re.search(r"(\d+) of 20 shown, as many as keep the file small", found)
    assert shown
    assert 2 <= int(shown[1]) < 20


@pytest.mark.parametrize("count", [1, 60])
def test_the_number_of_queries_does_not_grow_with_the_cases(scored: Scored, count: int) -> None:
    scored(*[1.0] * count, name="w45")
    run = scored(*[0.1] * count)
    compare_runs(*Run.objects.order_by("pk"))
    found = Run.objects.select_related("output_set__version__dataset").get(pk=run.pk)
    with CaptureQueriesContext(connection) as queries:
        run_report(found)
    assert len(queries) == 8


@pytest.fixture
def weeks(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": f"q{n}"} for n in range(8)])
    old = run_with(version, {"close": [1.0] * 8}, name="w45")
    return old, run_with(version, {"close": [0.0] * 7 + [1.0]}, name="w46")


def test_a_small_run_is_compared_with_its_baseline(weeks: tuple[Run, Run]) -> None:
    found = words(weeks[1])
    assert "Against w45 7 of 8 cases broke, 0 were fixed" in found
    assert "close fell by 0.875" in found
    assert stored_comparison(*weeks)


def test_a_large_one_only_where_that_was_worked_out(
    weeks: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.jobs.MAX_INLINE_PAIRS", 7)
    assert "is not compared with w45 yet" in words(weeks[1])
    assert "7 of 8 cases broke" in words(weeks[1], compares=True)
    assert "7 of 8 cases broke" in words(weeks[1])


def test_the_first_run_of_a_series_is_compared_with_nothing(weeks: tuple[Run, Run]) -> None:
    assert "Against" not in words(weeks[0])


def test_a_run_that_has_not_ended_has_no_figures(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    run = queued_run(make_outputs(make_dataset([{"expected": "a"}]), ["b"]))
    found = words(run)
    assert "The run is queued: it has no figures until it has ended." in found
    assert "Worst cases" not in found


def test_trials_are_named_and_figures_are_over_cases(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "q0"}, {"key": "q1"}])
    run = run_with(version, {"close": [0.0, 1.0, 1.0, 1.0]}, trials=2)
    found = words(run)
    assert "2 of 2 4 of 4 outputs" in found
    assert "1 unsteady Some trials of the case pass and others fail." in found
    run = run_with(version, {"close": [1.0, 0.0, 1.0, 1.0]}, trials=2, series="b")
    assert "q0 trial 1" in words(run)


def test_the_file_is_named_after_dataset_and_run(scored: Scored) -> None:
    assert run_file_name(scored(1.0, name="2026 w46")) == "answers-2026-w46.html"


@pytest.mark.parametrize("payloads", [MARKUP, PAYLOADS], ids=["markup", "payloads"])
def test_no_text_becomes_part_of_the_file(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, payloads: list[str]
) -> None:
    payloads = [text.replace("\0", "\ufffd") for text in payloads]  # as imports do
    cases = [
        {
            "key": f"{n} {text[:150]}",
            "input": text,
            "expected": f"not {text}",
            "references": [f"nor {text}"],
            "metadata": {text[:40]: {"nested": text}},
            "tags": [text[:60]],
        }
        for n, text in enumerate(payloads)
    ]
    markup = MARKUP[1]
    outputs = make_outputs(make_dataset(cases, markup), payloads, markup)
    Output.objects.filter(output_set=outputs, case__position=2).update(text=None, error=markup)
    OutputSet.objects.filter(pk=outputs.pk).update(labels={markup: markup}, source_name=markup)
    scorers = [(markup, "exact_match", {}), ("leaves", "json_similarity", {})]
    run = finished_run(outputs, *scorers, name=markup)
    Run.objects.filter(pk=run.pk).update(suite_name=markup, suite_revision=1)
    text = run_report(Run.objects.get(pk=run.pk))
    found = sound(text)
    assert found.elements["details"] == len(payloads)
    assert "\u202e" not in text
    assert "\u200b" not in text
    assert markup in found.text


def test_a_relabelled_run_says_so_beside_the_figures_as_scored(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.8]})
    assert "re-labelled" not in words(run)
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(run, by=None)
    said = (
        "The run is re-labelled with close 0.7: 1 pass, 1 fail, 0 error, 0 skipped; "
        "everything else here is as scored."
    )
    assert said in words(run)
    assert "No case failed and none has an error." in words(run)
