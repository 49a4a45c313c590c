"""Calibrations: scorers beside people, and judges in the other order and beside themselves."""

# ruff: noqa: RUF001  pages show a true minus sign

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.jobs import job_queue
from scoring.engine.runs.progress import NO_WORKER
from scoring.models import (
    AuditEntry,
    Connection,
    DatasetVersion,
    Job,
    JobKind,
    JobState,
    JudgeVariance,
    OutputSet,
    ReviewVerdict,
    Run,
    RunState,
    Team,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.calibration.steps import at, connected, judge_of, judged_run, worker
from tests.pages.runs.steps import BrowserOf
from tests.support.reviewed_runs import draw_sample, give_in_turn, outputs_of, scored_run
from tests.support.run_states import CLOSE, finished_run, queued_run
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

LABEL = "?label=metadata.human"


@pytest.fixture(autouse=True)
def _connection(team: Team) -> None:
    connected(team)


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    """People prefer a, b, a, a; the last case has no label."""
    metadata = [{"human": label, "subset": "Natural"} for label in "abaa"] + [{"subset": "x"}]
    cases = [{"metadata": each, "input": f"Question {n}"} for n, each in enumerate(metadata)]
    return make_outputs(make_dataset(cases), [f"Answer {n}." for n in range(5)])


@pytest.fixture
def run(outputs: OutputSet) -> Run:
    return judged_run(outputs, ["a", "a", "a", None, "b"], hidden_metadata=["human"])


def said(answer: Any) -> str:
    text = answer.text
    for mark in ("<strong>", "</strong>", "<code>", "</code>", '<span class="muted">', "</span>"):
        text = text.replace(mark, "")
    return " ".join(unescape(text).split())


def checks(run: Run, *pairs: Sequence[float], **more: Any) -> JudgeVariance:
    figures = {"n": 50, "deviation": 0.1, "band": 0.028, "mean_difference": -0.02, "flips": 3}
    version = judge_of(run).version
    return JudgeVariance.objects.create(run=run, version=version, **figures | more)


class TestBesidePeople:
    def test_the_likeliest_labels_are_compared_at_once(
        self, browser_of: BrowserOf, bob: User, run: Run
    ) -> None:
        page = said(browser_of(bob).get(at(run)))
        assert "Agreement</dt> <dd>2 of 3, 66.7" in page
        assert "1 judged output without a label is not counted" in page
        assert '<option value="metadata.human" selected>' in page

    def test_the_matrix_has_the_judges_words_against_the_peoples(
        self, browser_of: BrowserOf, bob: User, run: Run
    ) -> None:
        answer = browser_of(bob).get(at(run, LABEL))
        rows = answer.context["quality"].matrix()
        assert [(row.label, [cell.number for cell in row.cells], row.total) for row in rows] == [
            ("a", [2, 1], 3),
            ("b", [0, 0], 0),
        ]
        page = said(answer)
        assert '<th class="cell-title" scope="row">a</th>' in page
        assert '<td class="num" data-label="people: b"> 1 </td>' in page

    def test_labels_elsewhere_are_shown_for_what_they_are(
        self, browser_of: BrowserOf, bob: User, run: Run
    ) -> None:
        page = said(browser_of(bob).get(at(run, "?label=metadata.subset")))
        assert "0 of 4" in page
        assert "people: Natural" in page

    def test_what_cannot_be_used_is_said(
        self, browser_of: BrowserOf, bob: User, run: Run, subtests: pytest.Subtests
    ) -> None:
        cases: list[tuple[str, str]] = [
            ("?label=", "Choose the field that holds people's labels"),
            ("?label=output", "This cannot be used: label. Select a valid choice"),
            ("?label=metadata.human&swapped=none", "This cannot be used: swapped."),
        ]
        for query, words in cases:
            with subtests.test(query=query, words=words), undone():
                assert words in said(browser_of(bob).get(at(run, query)))

    def test_without_labels_one_is_asked_to_choose(
        self,
        browser_of: BrowserOf,
        bob: User,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
    ) -> None:
        run = judged_run(make_outputs(make_dataset([{"metadata": {"n": 1}}]), ["x"]), ["a"])
        page = said(browser_of(bob).get(at(run)))
        assert "Choose the field that holds people's labels" in page
        assert "Agreement</dt>" not in page

    def test_a_judge_that_was_shown_the_label_is_told_of(
        self,
        browser_of: BrowserOf,
        bob: User,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
        subtests: pytest.Subtests,
    ) -> None:
        cases: list[tuple[list[str], dict[str, Any], str, str]] = [
            (["human"], {}, LABEL, ""),
            ([], {}, LABEL, "Add its key to Hidden metadata"),
            (["human"], {"expected": "a"}, "?label=expected", "Move the labels to the metadata"),
        ]
        for hidden, case, query, words in cases:
            with subtests.test(hidden=hidden, case=case, query=query, words=words), undone():
                version = make_dataset([{"metadata": {"human": "a"}, **case}])
                run = judged_run(make_outputs(version, ["x"]), ["a"], hidden_metadata=hidden)
                page = (
                    said(browser_of(bob).get(at(run, query)))
                    .replace("<em>", "")
                    .replace("</em>", "")
                )
                assert ("The judge was shown this label" in page) == bool(words)
                assert words in page

    def test_too_many_labels_make_no_table(
        self,
        browser_of: BrowserOf,
        bob: User,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
    ) -> None:
        cases = [{"metadata": {"human": f"label {n}"}} for n in range(20)]
        run = judged_run(make_outputs(make_dataset(cases), ["x"] * 20), ["a"] * 20)
        page = said(browser_of(bob).get(at(run, LABEL)))
        assert "There are 21 different labels, too many for a table" in page

    def test_what_people_said_is_shown_as_text(
        self,
        browser_of: BrowserOf,
        bob: User,
        make_dataset: MakeDataset,
        make_outputs: MakeOutputs,
    ) -> None:
        hostile = "<script>alert(1)</script>"
        version = make_dataset([{"metadata": {"human": hostile, hostile: "a"}}])
        run = judged_run(make_outputs(version, ["x"]), ["a"])
        assert hostile not in browser_of(bob).get(at(run, LABEL)).text

    def test_an_unfinished_run_says_so(self, browser_of: BrowserOf, alice: User, run: Run) -> None:
        Run.objects.update(state=RunState.RUNNING)
        page = said(browser_of(alice).get(at(run)))
        assert "these figures are of what is scored so far" in page
        assert "It can be checked once the run has ended" in page


class TestOtherOrder:
    @pytest.fixture
    def swapped(self, outputs: OutputSet, make_outputs: MakeOutputs, run: Run) -> Run:
        other = make_outputs(outputs.version, ["y"] * 5, series="swapped")
        return judged_run(other, ["a", "a", "b", "a", "a"], "swapped", hidden_metadata=["human"])

    def test_position_bias_is_described(
        self, browser_of: BrowserOf, bob: User, run: Run, swapped: Run
    ) -> None:
        page = said(browser_of(bob).get(at(run, f"{LABEL}&swapped={swapped.uuid}")))
        assert "In 2 of 4 pairs, the judge chose the first position (a) in both orders." in page
        assert "In 0 of 4 pairs, the judge chose the second position (b) in both orders." in page
        assert "In 2, it chose the same option in both orders." in page
        assert "Position decided 2 of 4 pairs: 50.0" in page
        assert "labels swapped with the outputs" in page
        assert "2 of 4, 50.0" in page  # agreement: people prefer b, a, b, b there
        assert reverse("run", args=[swapped.uuid]) in page

    def test_only_runs_of_the_same_judge_are_offered(
        self, browser_of: BrowserOf, bob: User, run: Run, swapped: Run, outputs: OutputSet
    ) -> None:
        finished_run(outputs, CLOSE, name="of another scorer")
        page = said(browser_of(bob).get(at(run)))
        assert f'<option value="{swapped.uuid}">swapped · ' in page
        assert "of another scorer" not in page

    def test_choices_without_positions_are_explained(
        self, browser_of: BrowserOf, bob: User, outputs: OutputSet, make_outputs: MakeOutputs
    ) -> None:
        choices = {"a": 1.0, "b": 0.2, "c": 0.0}
        other = make_outputs(outputs.version, ["y"] * 5, series="swapped")
        runs = [
            judged_run(each, ["a"] * 5, each.series, choices=choices) for each in (outputs, other)
        ]
        page = said(browser_of(bob).get(at(runs[0], f"{LABEL}&swapped={runs[1].uuid}")))
        assert "The judge's choices do not stand for two positions" in page


class TestBesideItself:
    def test_the_last_check_is_told_whole(
        self, browser_of: BrowserOf, bob: User, alice: User, run: Run
    ) -> None:
        checks(run, mean_difference=0.5)
        checks(run, requested_by=alice, errors=2)
        page = said(browser_of(bob).get(at(run)))
        assert "by alice@example.org" in page
        assert "50 and 2 without a second score" in page
        assert "−0.020 second minus first score" in page
        assert "±0.028 for means of 50 outputs, ±0.100 for two runs of 4" in page
        assert "3 of 50, 6.0" in page

    def test_a_check_on_another_run_counts_for_the_version(
        self, browser_of: BrowserOf, bob: User, run: Run, outputs: OutputSet
    ) -> None:
        again = judged_run(outputs, ["a"] * 5, "w47", hidden_metadata=["human"])
        checks(run)
        assert ">w46</a>" in said(browser_of(bob).get(at(again)))

    def test_an_editor_is_told_what_a_check_costs(
        self, browser_of: BrowserOf, alice: User, bob: User, run: Run
    ) -> None:
        page = said(browser_of(alice).get(at(run)))
        assert '<option value="4" selected>4 · 4 calls, about $0.' in page
        assert "Run A/A check" not in said(browser_of(bob).get(at(run)))

    def test_an_unknown_price_is_said(
        self, browser_of: BrowserOf, alice: User, outputs: OutputSet
    ) -> None:
        run = judged_run(outputs, ["a"] * 5, model="unlisted")
        assert "5 calls, price not known" in said(browser_of(alice).get(at(run)))

    def test_a_connection_that_is_gone_is_told_before_anything_is_asked(
        self, browser_of: BrowserOf, alice: User, run: Run
    ) -> None:
        browser = browser_of(alice)
        assert "A check would fail" not in said(browser.get(at(run)))
        Connection.objects.all().delete()
        page = said(browser.get(at(run)))
        assert "A check would fail: the team has no connection called 'own' any more" in page

    def test_asking_for_a_check_leaves_a_job_and_is_audited(
        self, browser_of: BrowserOf, alice: User, run: Run
    ) -> None:
        browser = browser_of(alice)
        url = reverse("check_run_scorer", args=[run.uuid, 0])
        assert browser.post(url, {"sample": "4"}).headers["Location"] == at(run)
        job = Job.objects.get()
        request = {"run": str(run.uuid), "place": 0, "sample": 4}
        assert (job.kind, job.requested_by, job.request) == (
            JobKind.MEASURE_VARIANCE,
            alice,
            request,
        )
        entry = AuditEntry.objects.get(action="judge.checked")
        assert (entry.actor, entry.target_name, entry.new) == (alice, "judge v1", request)
        again = browser.post(url, {"sample": "4"}, follow=True)
        assert "under way already" in said(again)
        assert Job.objects.count() == 1

    def test_a_size_that_is_not_offered_is_refused(
        self, browser_of: BrowserOf, alice: User, run: Run, subtests: pytest.Subtests
    ) -> None:
        cases: list[str] = ["", "0", "1", "5", "600", "many"]
        for sample in cases:
            with subtests.test(sample=sample), undone():
                url = reverse("check_run_scorer", args=[run.uuid, 0])
                page = said(browser_of(alice).post(url, {"sample": sample}, follow=True))
                assert "Not checked: choose one of the sample sizes." in page
                assert not Job.objects.exists()
                assert not AuditEntry.objects.filter(action="judge.checked").exists()

    def test_a_check_under_way_is_looked_for_until_it_has_ended(
        self, browser_of: BrowserOf, alice: User, run: Run
    ) -> None:
        browser, part = browser_of(alice), {"HX-Request": "true", "HX-Target": "noise"}
        browser.post(reverse("check_run_scorer", args=[run.uuid, 0]), {"sample": "4"})
        waiting = said(browser.get(at(run), headers=part))
        assert waiting.startswith('<section class="section" id="noise"')
        assert f'hx-get="{at(run)}" hx-trigger="every 1s"' in waiting
        assert NO_WORKER.replace("`", "").capitalize()[:9] in waiting
        assert "Run A/A check" not in waiting
        worker()
        assert "start manage.py worker" not in said(browser.get(at(run), headers=part))
        checks(run)
        Job.objects.update(state=JobState.DONE)
        ended = said(browser.get(at(run), headers=part))
        assert "hx-trigger" not in ended
        assert "Run A/A check" in ended

    def test_a_check_that_failed_says_why(self, browser_of: BrowserOf, bob: User, run: Run) -> None:
        request = {"run": str(run.uuid), "place": 0, "sample": 4}
        job = job_queue.enqueue_once(JobKind.MEASURE_VARIANCE, run.team, bob, request)
        problem = "0 of 4 outputs could be scored again <b>"
        Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, problem=problem)
        answer = browser_of(bob).get(at(run))
        assert f"The last check failed: {problem}." in said(answer)
        assert problem not in answer.text

    def test_one_scored_output_is_too_few(
        self, browser_of: BrowserOf, alice: User, outputs: OutputSet
    ) -> None:
        run = judged_run(outputs, ["a", None, None, None, None])
        page = said(browser_of(alice).get(at(run)))
        assert "A check takes two scored outputs; this run has 1." in page
        url = reverse("check_run_scorer", args=[run.uuid, 0])
        assert "nothing a judge could be asked about" in said(
            browser_of(alice).post(url, {"sample": "1"}, follow=True)
        )


class TestOnlyJudges:
    COMBINED = ("both", "all", {"scorers": [{"name": "f", "type": "factuality",
                                             "config": {"model": "m"}}]})  # fmt: skip

    @pytest.mark.parametrize("definition", [CLOSE, COMBINED])
    def test_any_other_scorer_is_told_apart(
        self, browser_of: BrowserOf, alice: User, outputs: OutputSet, definition: Any
    ) -> None:
        run = queued_run(outputs, definition)
        browser = browser_of(alice)
        page = said(browser.get(at(run)))
        assert f"Calibration of {definition[0]}" in page
        assert "Labels in the dataset" not in page
        assert "Run A/A check" not in page
        browser.post(reverse("check_run_scorer", args=[run.uuid, 0]), {"sample": "2"})
        assert not Job.objects.exists()

    def test_a_place_that_the_run_has_not_is_not_found(
        self, browser_of: BrowserOf, alice: User, run: Run
    ) -> None:
        assert browser_of(alice).get(at(run, place=1)).status_code == 404

    def test_a_run_links_its_judges_alone(
        self, browser_of: BrowserOf, bob: User, run: Run, outputs: OutputSet
    ) -> None:
        browser: Client = browser_of(bob)
        assert at(run) in browser.get(reverse("run", args=[run.uuid])).text
        plain = finished_run(outputs, CLOSE)
        assert "judge quality" not in browser.get(reverse("run", args=[plain.uuid])).text


@pytest.mark.parametrize("most", [28])
def test_a_page_of_many_cases_asks_no_more_queries_than_one_of_few(
    browser_of: BrowserOf,
    alice: User,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    most: int,
) -> None:
    browser = browser_of(alice)
    asked = []
    for count in (3, 60):
        cases = [{"metadata": {"human": "a"}}] * count
        version = make_dataset(cases, f"Of {count}")
        runs = [
            judged_run(make_outputs(version, ["x"] * count, series), ["a"] * count, series)
            for series in ("one", "other")
        ]
        checks(runs[0])
        with CaptureQueriesContext(
            connection,
        ) as captured:
            answer = browser.get(at(runs[0], f"{LABEL}&swapped={runs[1].uuid}"))
        assert answer.context["quality"].figures.in_other_order.bias.n == count
        asked.append(len(captured))
    assert asked[0] == asked[1] <= most


class TestRun:
    """The calibration of all scorers of a run."""

    def at(self, run: Run) -> str:
        return reverse("run_calibration", args=[run.uuid])

    def test_every_scorer_has_its_figures(
        self, browser_of: BrowserOf, bob: User, reviewed: Run
    ) -> None:
        answer = browser_of(bob).get(self.at(reviewed))
        page = said(answer)
        assert "9 outputs reviewed" in page
        assert "6 with a pass or fail verdict" in page
        assert 'data-label="outputs"> 6 </td>' in page
        assert "83.3 % [43.6 %, 97.0 %]" in page  # 5 of 6 by Wilson
        assert 'data-label="precision">0.75</td>' in page
        assert 'data-label="recall">1.00</td>' in page
        assert "best agreement" in page
        assert "equally good: > 0.4 to 0.8" in page

    def test_other_labels_are_called_no_random_sample(
        self, browser_of: BrowserOf, bob: User, reviewed: Run
    ) -> None:
        assert "Not a random sample" in said(browser_of(bob).get(self.at(reviewed)))
        draw_sample(outputs_of(reviewed)[:10])
        page = said(browser_of(bob).get(self.at(reviewed)))
        assert "Not a random sample" not in page
        assert "random sample: 9 of 10 reviewed" in page

    def test_people_are_compared_with_each_other(
        self, browser_of: BrowserOf, bob: User, reviewed: Run, charlie: User
    ) -> None:
        page = said(browser_of(bob).get(self.at(reviewed)))
        assert "7 outputs with pass or fail verdicts from at least two" in page
        assert "alice@example.org and bob@example.org" in page
        assert "Fleiss" not in page
        give_in_turn(reviewed, charlie, [ReviewVerdict.PASS] * 3)
        assert "Fleiss' kappa" in said(browser_of(bob).get(self.at(reviewed)))

    def test_without_reviews_it_says_what_to_do(
        self, browser_of: BrowserOf, bob: User, run: Run
    ) -> None:
        page = said(browser_of(bob).get(self.at(run)))
        assert "No reviews yet" in page
        assert "Agreement between reviewers" not in page

    def test_reviewers_are_told_what_lists_hold(
        self, browser_of: BrowserOf, alice: User, bob: User, reviewed: Run
    ) -> None:
        words = "only for outputs that you have reviewed"
        assert words in said(browser_of(alice).get(self.at(reviewed)))
        assert words not in said(browser_of(bob).get(self.at(reviewed)))

    def test_it_costs_the_same_queries_for_any_number_of_reviews(
        self, browser_of: BrowserOf, bob: User, reviewed: Run, charlie: User
    ) -> None:
        def queries() -> int:
            with CaptureQueriesContext(connection) as asked:
                browser_of(bob).get(self.at(reviewed))
            return len(asked)

        before = queries()
        give_in_turn(reviewed, charlie, [ReviewVerdict.PASS] * 12)
        assert queries() == before


class TestCorrectedRate:
    """200 outputs of which 120 are drawn: people pass 2 of 3, the scorer half of them."""

    @pytest.fixture
    def sampled(self, make_dataset: MakeDataset, alice: User) -> Run:
        version = make_dataset([{"expected": "yes"}] * 200)
        run = scored_run(version, {"close": [0.9, 0.1, 0.9, 0.1, 0.9, 0.1] * 33 + [0.9, 0.1]})
        verdicts = [ReviewVerdict.PASS] * 3 + [ReviewVerdict.FAIL] + [ReviewVerdict.PASS]
        give_in_turn(run, alice, [*verdicts, ReviewVerdict.FAIL] * 20)
        draw_sample(outputs_of(run)[:120])
        return run

    def test_it_stands_beside_the_raw_rate(
        self, browser_of: BrowserOf, bob: User, sampled: Run
    ) -> None:
        browser = browser_of(bob)
        assert "people: 66.7 %</a> [59.1 %, 74.2 %]" in said(
            browser.get(reverse("run", args=[sampled.uuid]))
        )
        page = said(browser.get(reverse("run_calibration", args=[sampled.uuid])))
        assert 'data-label="corrected"> 66.7 %' in page
        assert 'data-label="reviews">120</td>' in page
        assert "too few outputs for a margin of ±5 points" in page
        page = said(browser.get(at(sampled)))
        assert "Corrected pass rate</dt> <dd> 66.7 %" in page
        assert "the scorer's own is 50.0 %" in page

    def test_one_that_is_no_better_than_the_reviews_stays_away(
        self, browser_of: BrowserOf, bob: User, alice: User, make_dataset: MakeDataset
    ) -> None:
        run = scored_run(make_dataset([{"expected": "yes"}] * 100), {"close": [0.9, 0.1] * 50})
        give_in_turn(run, alice, [ReviewVerdict.PASS] * 30 + [ReviewVerdict.FAIL] * 30)
        draw_sample(outputs_of(run)[:60])
        browser = browser_of(bob)
        assert "Corrected by the reviews" not in browser.get(reverse("run", args=[run.uuid])).text
        page = said(browser.get(reverse("run_calibration", args=[run.uuid])))
        assert "no more precise than the reviews alone" in page

    def test_without_a_sample_nothing_is_corrected(
        self, browser_of: BrowserOf, bob: User, reviewed: Run
    ) -> None:
        page = said(browser_of(bob).get(reverse("run_calibration", args=[reviewed.uuid])))
        assert "Review a random sample of at least 50 outputs" in page
        assert "not corrected: no outputs were drawn at random" in said(
            browser_of(bob).get(at(reviewed))
        )


class TestScorer:
    """The calibration of one scorer of any type."""

    def test_it_has_table_figures_and_threshold(
        self, browser_of: BrowserOf, bob: User, reviewed: Run
    ) -> None:
        page = said(browser_of(bob).get(at(reviewed)))
        assert "Calibration of close" in page
        assert "5 of 6, 83.3 %" in page
        assert "0.7, kappa +1.00" in page
        assert "the run's is 0.5" in page
        assert "Preview threshold" not in page  # 0.5 is equally good
        assert "Labels in the dataset" not in page

    def test_a_better_threshold_can_be_previewed(
        self, browser_of: BrowserOf, bob: User, alice: User, version: DatasetVersion
    ) -> None:
        run = scored_run(version, {"close": [0.9, 0.9, 0.6, 0.6] * 3})
        give_in_turn(run, alice, [ReviewVerdict.PASS] * 2 + [ReviewVerdict.FAIL] * 2)
        page = browser_of(bob).get(at(run)).text
        address = reverse("scorer_threshold", args=[run.scorers.get().version.scorer.uuid])
        assert f'href="{address}?threshold=0.9"' in page
        assert browser_of(bob).get(f"{address}?threshold=0.9").status_code == 200

    def test_a_better_threshold_is_previewed_in_the_suite_of_the_run(
        self, browser_of: BrowserOf, bob: User, alice: User, version: DatasetVersion
    ) -> None:
        run = suite_run(version, {"close": [0.9, 0.9, 0.6, 0.6] * 3})
        give_in_turn(run, alice, [ReviewVerdict.PASS] * 2 + [ReviewVerdict.FAIL] * 2)
        entry = entry_of()
        address = reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid])
        assert f'href="{address}?threshold=0.9"' in browser_of(bob).get(at(run)).text
        answer = browser_of(bob).get(f"{address}?threshold=0.9")
        assert answer.context["page"].preview.new == 0.9
        assert answer.context["page"].chosen.run == run

    def test_a_scorer_whose_outputs_nobody_reviewed_says_so(
        self, browser_of: BrowserOf, bob: User, run: Run
    ) -> None:
        page = said(browser_of(bob).get(at(run)))
        assert "No output of this run has been reviewed yet." in page
        assert "Labels in the dataset" in page  # the judge's own part


class TestStamp:
    def test_an_editor_stamps_a_scorer_and_pages_say_it(
        self, browser: Client, ritas: Client, version: DatasetVersion, rita: User
    ) -> None:
        run = scored_run(version, {"close": [0.9, 0.6, 0.4]})
        give_in_turn(run, rita, [ReviewVerdict.PASS, ReviewVerdict.FAIL])
        draw_sample(outputs_of(run)[:2])
        url = reverse("run_scorer_calibration", args=[run.uuid, 0])
        page = " ".join(browser.get(url).text.split())
        for said in ("<strong>exploring</strong>", "not stamped", "48 more reviews of a random"):
            assert said in page
        stamp = reverse("stamp_run_scorer", args=[run.uuid, 0])
        assert ritas.post(stamp, {"limit": "0.6"}).status_code == 403
        assert "enter a kappa from 0 to 1" in browser.post(stamp, {"limit": "2"}, follow=True).text
        assert (
            "close is stamped: exploring."
            in browser.post(stamp, {"limit": "0.6"}, follow=True).text
        )
        assert ">exploring</span>" in browser.get(reverse("run_calibration", args=[run.uuid])).text
        gates = reverse("run_gate", args=[run.uuid])
        gated = " ".join(browser.get(gates + "?gate=pass_rate%3E%3D0.1").text.split())
        assert "Fit to gate: " in gated
        assert "exploring" in gated

    def test_a_run_that_goes_on_is_not_stamped(
        self, browser: Client, version: DatasetVersion
    ) -> None:
        run = scored_run(version, {"close": [0.9]})
        Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING)
        stamp = reverse("stamp_run_scorer", args=[run.uuid, 0])
        assert "the run has not ended" in browser.post(stamp, {"limit": "0.6"}, follow=True).text
