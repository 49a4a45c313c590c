"""A team with one of everything, for tests that go through every address."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.runs import planning
from scoring.engine.signoff.evidence import gather_evidence
from scoring.models import (
    Alert,
    AlertRule,
    Comment,
    Connection,
    Correction,
    Job,
    JobKind,
    Output,
    ReleaseDecision,
    ReleaseState,
    Review,
    ReviewQueue,
    ReviewTask,
    ReviewVerdict,
    Run,
    SavedView,
    Scorer,
    Suite,
    SuiteProposal,
    TaskReason,
    Team,
    Upload,
    User,
    Waiver,
)
from scoring.models.reviews.waiver import Terms, WaivedScorer
from tests.conftest import MakeDataset, MakeOutputs


@pytest.fixture
def house(
    team: Team, alice: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> dict[str, Any]:
    """One of everything a stranger may not see, by the parameter of the address it is named by."""
    version = make_dataset([{"input": "q", "expected": "a"}, {"input": "r", "expected": "b"}])
    scorer = Scorer.objects.define(team, "same", "exact_match", {}, by=alice)
    suite = Suite.objects.define(team, "release", [(scorer, None)], alice)
    run = planning.create_run(make_outputs(version, ["a", "b"]), suite=suite, by=alice)
    upload = Upload.objects.create(
        team=team, file_name="cases.csv", stored_name="none", size_bytes=1, created_by=alice
    )
    url = "https://api.example.org/v1"
    connection = Connection.objects.define(team, "own", url, key="sk-0123456789", by=alice)
    job = Job.objects.create(team=team, kind=JobKind.TRY_SCORER, requested_by=alice)
    prompt = Job.objects.create(team=team, kind=JobKind.TRY_PROMPT, requested_by=alice)
    asked = {"run": str(run.uuid), "type": "exact_match", "config": {}, "threshold": 1.0}
    asked |= {"held": None, "outputs": [], "near": 0, "left_out": 0}
    preview = Job.objects.create(team=team, kind=JobKind.PREVIEW_SCORER, request=asked)
    deleted = planning.create_run(make_outputs(version, ["a", "b"]), suite=suite, by=alice)
    Run.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    rules = [
        AlertRule.objects.define(team, version.dataset, by=alice, kind="no_data", limit=days).rule
        for days in range(1, 4)
    ]
    rules[2].remove(by=alice)
    text = "name: release\nscorers: [{name: same, type: exact_match, threshold: 0.5}]"
    proposal = SuiteProposal.objects.propose(suite, text, "release.yaml", alice)
    queue = ReviewQueue.objects.create(team=team, run=run, name="w46", case_count=1)
    output = Output.objects.get(output_set=run.output_set, case__position=2)
    ReviewTask.objects.create(
        queue=queue, output=output, reviewer=alice, position=1, reason=TaskReason.UNSEEN
    )
    terms = Terms(timezone.localdate(), "Known.", alice)
    about = [WaivedScorer("case-1", scorer.pk)]
    (waiver,) = Waiver.objects.waive(version.dataset, about, terms, by=alice)
    own_correction, correction = (
        Correction.objects.create(
            dataset=version.dataset, base=version, key="case-1", expected_json=text, author=author
        )
        for text, author in (('"b"', alice), ('"c"', None))
    )
    disputed = planning.create_run(make_outputs(version, ["a", "b"]), suite=suite, by=alice)
    for verdict in (ReviewVerdict.PASS, ReviewVerdict.FAIL):
        Review.objects.create(
            output=disputed.output_set.outputs.get(case__position=1),
            reviewer_name=verdict.label,
            verdict=verdict,
        )
    return {
        "disagreement": disputed,
        "waiver": waiver,
        "withdraw_correction": own_correction,
        "correction": correction,
        "decide_proposal": proposal,
        "delete_alert_rule": rules[1],
        "restore_alert_rule": rules[2],
        "alert_rule": rules[0],
        "acknowledge_alert": Alert.objects.create(rule=rules[0], sentence="It fell."),
        "dataset": version.dataset,
        "tried_prompt": prompt,
        "tried": job,
        "previewed": preview,
        "run": run,
        "scorer": scorer,
        "suite": suite,
        "upload": upload,
        "connection": connection,
        "outputs": run.output_set,
        "deleted run": deleted,
        "review": queue,
        "comment": Comment.objects.add(run, Output.objects.all()[0], "Why?", by=alice),
        "release_decision": ReleaseDecision.objects.create(
            run=run,
            state=ReleaseState.APPROVED,
            reason="Good.",
            decided_by=alice,
            evidence=gather_evidence(run, None).as_json(),
        ),
        "kept view": SavedView.objects.keep(team, "worst", "sort=same", by=alice, is_shared=True),
    }
