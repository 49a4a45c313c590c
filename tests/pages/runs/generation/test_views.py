"""One prompt of a run that makes its outputs, tried on one case before the run starts."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.runs.progress import NO_WORKER
from scoring.models import (
    Connection,
    Dataset,
    Job,
    JobKind,
    JobState,
    Suite,
    Team,
    User,
)
from tests.pages.runs.generation.steps import address, filled, part, work_begins
from tests.pages.runs.steps import with_code
from tests.support.undone import undone


class TestTry:
    def tried(self, browser: Client, dataset: Dataset, position: str, **sent: Any) -> Any:
        answer = part(browser, address(dataset), "answer", sent | {"try": position})
        assert answer.status_code == 200
        return answer

    def test_the_worker_is_asked_for_one_call(
        self, browser: Client, alice: User, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        work_begins()
        sent = filled(browser, dataset, suite, system="Be brief.", max_tokens="9")
        page = self.tried(browser, dataset, "2", **sent)
        job = Job.objects.get()
        assert (job.kind, job.requested_by) == (JobKind.TRY_PROMPT, alice)
        assert job.request == {
            "connection": str(own.uuid),
            "model": "stub-1",
            "system": "Be brief.",
            "parameters": {"max_tokens": 9},
            "prompt": "Answer question 2",
            "key": "case-2",
        }
        assert reverse("tried_prompt", args=[job.uuid]) in page.text
        self.tried(browser, dataset, "2", **sent)
        assert Job.objects.count() == 1, "the very same is not asked twice at once"

    def test_what_cannot_be_tried_is_said(
        self,
        browser: Client,
        dataset: Dataset,
        own: Connection,
        suite: Suite,
        subtests: pytest.Subtests,
    ) -> None:
        cases: list[tuple[str, dict[str, str], str]] = [
            ("9", {}, "no such case"),
            ("x", {}, "no such case"),
            ("1", {"model": ""}, "come first"),
            ("1", {"template": "{{ input.z }}"}, "nothing at input.z"),
        ]
        for position, changed, says in cases:
            with subtests.test(position=position, changed=changed, says=says), undone():
                work_begins()
                sent = filled(browser, dataset, suite) | changed
                assert says in self.tried(browser, dataset, position, **sent).text
                assert not Job.objects.exists()

    def test_without_a_worker_nothing_waits(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        page = self.tried(browser, dataset, "1", **filled(browser, dataset, suite)).text
        assert with_code(NO_WORKER) in page
        assert not Job.objects.exists()

    def test_a_person_has_few_tries_under_way(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        work_begins()
        sent = filled(browser, dataset, suite)
        for position in ("1", "2", "3"):
            self.tried(browser, dataset, position, **sent)
        more = self.tried(browser, dataset, "1", **sent | {"template": "Other {{ input.q }}"})
        assert "still under way" in more.text
        assert Job.objects.count() == 3

    def test_the_answer_is_shown_as_it_came(
        self, browser: Client, team: Team, alice: User, subtests: pytest.Subtests
    ) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"state": JobState.WAITING}, "The model is asked."),
            ({"state": JobState.FAILED, "problem": "it broke"}, "No answer: it broke."),
            (
                {
                    "state": JobState.DONE,
                    "answer": {
                        "call": {
                            "model": "stub-1",
                            "is_ok": True,
                            "reply": "<b>Paris</b>",
                            "code": "",
                            "tokens_in": 100,
                            "tokens_out": 20,
                            "cost_usd": 0.01,
                            "latency_ms": 12.4,
                        }
                    },
                },
                "&lt;b&gt;Paris&lt;/b&gt;",
            ),
            (
                {
                    "state": JobState.DONE,
                    "answer": {
                        "call": {
                            "model": "stub-1",
                            "is_ok": False,
                            "reply": "wrong key",
                            "code": "key_refused",
                        }
                    },
                },
                "key_refused",
            ),
        ]
        for kept, says in cases:
            with subtests.test(kept=kept, says=says), undone():
                work_begins()
                made: dict[str, Any] = {
                    "team": team,
                    "requested_by": alice,
                    "kind": JobKind.TRY_PROMPT,
                }
                job = Job.objects.create(**made, request={"key": "q1"}, **kept)
                page = browser.get(reverse("tried_prompt", args=[job.uuid])).text
                assert says in page
                if "Paris" in says:
                    assert all(text in page for text in ("$0.01", "12 ms", "100 tokens in, 20 out"))

    def test_another_kind_of_job_is_not_here(
        self, browser: Client, team: Team, alice: User
    ) -> None:
        job = Job.objects.create(team=team, kind=JobKind.TRY_SCORER, requested_by=alice)
        assert browser.get(reverse("tried_prompt", args=[job.uuid])).status_code == 404
