"""Runs, datasets and cases as people name them on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from scoring.engine.gates import baseline_of
from scoring.management.console import checked_name, misuse
from scoring.models import Dataset, DatasetVersion, Run, RunScorer, Team, Verdict
from scoring.models.case_changes import Change
from scoring.models.case_filters import CaseFilters
from scoring.models.case_table import CaseOrder, CaseTable
from scoring.models.pair_rows import PairKind

LISTED: Final = 5  # runs of one name that an error tells apart


def named_dataset(team: Team, name: str) -> Dataset:
    found = team.datasets.filter(name=checked_name("--dataset", name)).first()
    if found is None:
        raise misuse(f"the team {team.slug} has no dataset {name!r}")
    return found


def named_run(team: Team, dataset: Dataset | None, name: str) -> Run:
    """The run of this id, else the newest of this name that has ended."""
    known = Run.objects.filter(team=team).select_related("output_set__version__dataset")
    if uid := _uuid(name):
        run = known.filter(uuid=uid).first()
        if run is None:
            raise misuse(f"the team {team.slug} has no run {name}")
        return run
    runs = known.ended().filter(name=checked_name("RUN", name)).order_by("-pk")
    found = list(runs.of_dataset(dataset) if dataset else runs)
    if not found:
        where = f"dataset {dataset}" if dataset else f"team {team.slug}"
        raise misuse(f"the {where} has no run {name!r} that has ended")
    datasets = {run.output_set.version.dataset.name: run for run in reversed(found)}
    if len(datasets) > 1:
        listed = ", ".join(sorted(datasets)[:LISTED])
        raise misuse(f"several datasets have a run {name!r}: name one with --dataset: {listed}")
    return found[0]


def named_version(dataset: Dataset, number: int | None) -> DatasetVersion:
    """The version of this number, the latest without one."""
    found = dataset.versions.order_by("-number")
    version = (found if number is None else found.filter(number=number)).first()
    if version is None:
        last = found.first()
        known = f"it has 1 to {last.number}" if last else "it is still loading"
        what = "no version" if number is None else f"no version {number}"
        raise misuse(f"the dataset {dataset} has {what}: {known}")
    return version


def chosen_cases(run: Run, options: dict[str, Any]) -> CaseTable:
    """The run's cases that pass `verdict`, `scorer`, `min` …, in the order of `sort`."""
    scorers = list(run.scorers.with_summary())
    wanted = {name: options[name] for name in ("min", "max")}
    for name, limit in wanted.items():
        if limit is not None and not 0 <= limit <= 1:
            raise misuse(f"--{name}: {limit:g} is no score, which is from 0 to 1")
    needs_scorer = options["code"] or any(limit is not None for limit in wanted.values())
    filters = CaseFilters(
        verdict=next((each for each in Verdict if each.label == options["verdict"]), None),
        scorer=_scorer("--scorer", options["scorer"], scorers, needs_scorer=needs_scorer),
        minimum=wanted["min"],
        maximum=wanted["max"],
        code=options["code"],
        tag=options["tag"],
        text=options["search"],
        unsteady=options["unsteady"],
        change=_change(run, options["changed"], options["against"]),
        reviewed={"yes": True, "no": False}.get(options["reviewed"]),
    )
    sort = _scorer("--sort", options["sort"], scorers)
    return CaseTable(run, scorers, filters, CaseOrder(sort, options["descending"]))


def _change(run: Run, kind: str | None, name: str) -> Change | None:
    """What became of the cases since the run of this name, `auto` the run's baseline."""
    if kind is None:
        return None
    dataset = run.output_set.version.dataset
    against = baseline_of(run) if name == "auto" else named_run(run.team, dataset, name)
    if against is None:
        raise misuse("--changed: the run has no baseline, name a run with --against")
    if against == run or against.output_set.version.dataset != dataset:
        raise misuse(f"--against: {name!r} is not another run of the dataset {dataset}")
    return Change(PairKind(kind), against)


def _scorer(
    option: str, name: str | None, scorers: Sequence[RunScorer], *, needs_scorer: Any = False
) -> RunScorer | None:
    if name is None and not needs_scorer:
        return None
    found = [scorer for scorer in scorers if name in (None, scorer.name)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(scorer.name for scorer in scorers)
    said = "say whose score is meant" if name is None else f"the run has no scorer {name!r}"
    raise misuse(f"{option}: {said}; it has: {names}")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
