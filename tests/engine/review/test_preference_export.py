"""Exported preferences say which output was preferred, and where it was shown."""

from __future__ import annotations

import json

from scoring.engine.review.preference_export import COLUMNS, preference_sheet
from scoring.models import Output, Preference, PreferenceVerdict, ReviewQueue, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run


def test_rows_come_in_the_order_of_cases(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, alice: User
) -> None:
    version = make_dataset([{"key": f"q{n}", "input": "a"} for n in (1, 2)])
    run: Run = queued_run(make_outputs(version, ["new", "new"]), name="new")
    baseline: Run = queued_run(make_outputs(version, ["old", "old"]), name="old")
    queue = ReviewQueue.objects.create(team=run.team, run=run, baseline=baseline, name="pairs")
    better, worse = PreferenceVerdict.BETTER, PreferenceVerdict.WORSE
    for key, verdict, is_swapped in (("q2", worse, True), ("q1", better, False)):
        pair = [
            Output.objects.get(output_set=each.output_set, case__key=key)
            for each in (run, baseline)
        ]
        Preference.objects.prefer(
            run, (pair[0], pair[1]), verdict, by=alice, note="=1+1", is_swapped=is_swapped
        )
    sheet = preference_sheet(queue, Preference.objects.all())
    *lines, last = b"".join(sheet.stream("jsonl")).decode().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [tuple(row) for row in rows] == [COLUMNS] * 2
    assert [(row["key"], row["verdict"], row["candidate_side"]) for row in rows] == [
        ("q1", "better", "left"),
        ("q2", "worse", "right"),
    ]
    assert {(row["candidate"], row["baseline"], row["reviewer"]) for row in rows} == {
        ("new", "old", "alice@example.org")
    }
    assert last == '{"_rows": 2}'
    assert b"'=1+1" in b"".join(sheet.stream("csv"))
