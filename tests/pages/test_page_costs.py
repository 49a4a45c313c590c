"""How many queries the pages of runs take: the same for one row as for many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.template import Context
from django.template.loader_tags import IncludeNode
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.drift import measure_series
from scoring.models import Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.undone import undone

COUNTS = (1, 6)
LISTS = {"run", "run, failed", "dataset", "compare, one version", "compare, two versions"}
BARS = {"one version": "-0.75..-0.65", "two versions": "-0.65..-0.55"}  # where the scores moved to


class Runs(NamedTuple):
    """Each case breaks from the first run to the second, and from it to the third one's version."""

    baseline: Run
    same: Run
    other: Run


def made(make_dataset: MakeDataset, count: int) -> Runs:
    cases = [{"key": f"q{n}", "input": f"zebra {n}", "tags": ["all"]} for n in range(count)]
    versions = [
        make_dataset(cases, name=f"{count} cases"),
        make_dataset([{**case, "expected": "edited"} for case in cases], name=f"{count} cases"),
    ]
    baseline, same, other = (
        run_with(version, {"close": [score] * count, "far": [0.9] * count}, name=f"{score}")
        for version, score in ((versions[0], 0.9), (versions[0], 0.2), (versions[1], 0.3))
    )
    for candidate in (same, other):
        compare_runs(baseline, candidate)
    measure_series(versions[0].dataset, "a")
    return Runs(baseline, same, other)


def compare_url(runs: Runs, candidate: Run, query: Mapping[str, str]) -> str:
    pair = {"baseline": str(runs.baseline.uuid), "candidate": str(candidate.uuid)}
    address = reverse("compare", args=[candidate.team.slug])
    return f"{address}?{urlencode(pair | query)}"


def case_url(runs: Runs, candidate: Run, query: Mapping[str, str]) -> str:
    beside = {"against": str(runs.baseline.uuid)}
    return f"{reverse('run_case', args=[candidate.uuid, 1])}?{urlencode(beside | query)}"


def addresses(runs: Runs) -> dict[str, str]:
    """By the name that the table of costs has for them."""
    dataset = runs.baseline.output_set.version.dataset
    run, drift = (
        reverse("run", args=[runs.same.uuid]),
        reverse("dataset_drift", args=[dataset.uuid]),
    )
    found = {
        "home": reverse("team_home", args=[dataset.team.slug]),
        "runs": reverse("runs", args=[dataset.team.slug]),
        "dataset": reverse("dataset", args=[dataset.uuid]),
        "drift": drift,
        "drift, a line": f"{drift}?scorer=close",
        "drift of a team": reverse("team_drift", args=[dataset.team.slug]),
        "run": run,
        "run, failed": f"{run}?verdict=fail",
        "run, sorted": f"{run}?sort=close",
        "run, tagged": f"{run}?tag=all",
        "run, a text": f"{run}?q=zebra",
        "case": reverse("run_case", args=[runs.same.uuid, 1]),
    }
    beside = {"against": "auto", "sort": "close", "verdict": "fail", "tag": "all", "n": "1"}
    for title, candidate in {"one version": runs.same, "two versions": runs.other}.items():
        case = reverse("run_case", args=[candidate.uuid, 1])
        for name, query in {
            "a text": {"q": "zebra"},
            "a change": {"change": "broke"},
            "much": {"change": "broke", "reviewed": "no", "scorer": "far", "max": "1"},
        }.items():
            found[f"case beside, {title}, {name}"] = f"{case}?{urlencode(beside | query)}"
    narrowed = {
        "": {},
        ", a scorer": {"scorer": "close"},
        ", a tag and a text": {"tag": "all", "q": "zebra"},
    }
    for title, candidate in {"one version": runs.same, "two versions": runs.other}.items():
        for name, query in narrowed.items():
            asked = {"kind": "broke", **query}
            found[f"compare, {title}{name}"] = compare_url(runs, candidate, asked)
            found[f"case of {title}{name}"] = case_url(runs, candidate, {**asked, "n": "1"})
        found[f"compare, {title}, none"] = compare_url(runs, candidate, {"kind": "fixed"})
        bar = {"kind": "pairs", "scorer": "close", "change": BARS[title]}
        found[f"compare, {title}, a bar"] = compare_url(runs, candidate, bar)
        found[f"case of {title}, a bar"] = case_url(runs, candidate, {**bar, "n": "1"})
        for one, two, change in (
            (runs.baseline, candidate, "broke"),
            (candidate, runs.baseline, "fixed"),
        ):
            asked = {"change": change, "baseline": str(one.uuid)}
            page = f"{reverse('run', args=[two.uuid])}?{urlencode(asked)}"
            found[f"run, {title}, {change}"] = page
            found[f"run, {title}, {change}, a tag"] = f"{page}&tag=all"
            found[f"run, {title}, {change}, a text"] = f"{page}&q=zebra"
        absent = {"absent": str(candidate.uuid), "kind": "only_baseline", "tag": "all", "n": "1"}
        case = reverse("run_case", args=[runs.baseline.uuid, 1])
        found[f"case only in the baseline, {title}"] = f"{case}?{urlencode(absent)}"
    found["compare, edited"] = compare_url(runs, runs.other, {"kind": "edited"})
    return found


def queries(browser: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(address).status_code == 200
    return len(captured)


def includes(monkeypatch: pytest.MonkeyPatch, browser: Client, address: str) -> int:
    """How many parts Django's template engine draws: a part for each row is what tables cost."""
    drawn: list[str] = []
    render = IncludeNode.render

    def count(node: IncludeNode, context: Context) -> str:
        drawn.append(str(node.template))
        return str(render(node, context))

    with monkeypatch.context() as patch:
        patch.setattr(IncludeNode, "render", count)
        browser.get(address)
    return len(drawn)


def test_no_row_draws_a_part_of_its_own(
    browser_of: Callable[[User], Client],
    bob: User,
    make_dataset: MakeDataset,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    browser = browser_of(bob)
    one, many = (
        {
            name: includes(monkeypatch, browser, address)
            for name, address in addresses(runs).items()
            if name in LISTS
        }
        for runs in [made(make_dataset, count) for count in COUNTS]
    )
    assert one.keys() == LISTS
    assert {name: many[name] - one[name] for name in LISTS if many[name] - one[name] > 3} == {}


@pytest.mark.long("every page of runs is asked for twice")
def test_many_rows_take_no_more_queries_than_one(
    browser_of: Callable[[User], Client], bob: User, make_dataset: MakeDataset
) -> None:
    browser = browser_of(bob)
    one, many = (
        {name: queries(browser, address) for name, address in addresses(runs).items()}
        for runs in [made(make_dataset, count) for count in COUNTS]
    )
    assert {name: many[name] - one[name] for name in one if many[name] > one[name]} == {}


def test_a_list_that_is_empty_asks_for_no_pairs(
    browser_of: Callable[[User], Client],
    bob: User,
    make_dataset: MakeDataset,
    subtests: pytest.Subtests,
) -> None:
    cases: list[str] = ["fixed", "unclear", "only_baseline", "only_candidate"]
    for kind in cases:
        with subtests.test(kind=kind), undone():
            runs, browser = made(make_dataset, 2), browser_of(bob)
            address = compare_url(runs, runs.other, {"kind": kind})
            browser.get(address)
            with CaptureQueriesContext(connection) as captured:
                assert "No case of these runs belongs here." in browser.get(address).text
            tables = ("scoring_caseverdict", "scoring_pairindex")
            assert not [query for query in captured if any(name in query["sql"] for name in tables)]
