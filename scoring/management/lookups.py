"""Runs, datasets and cases as people name them on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from scoring.engine.runs.neighbours import run_baseline
from scoring.management.console import checked_name, usage_error
from scoring.models import Dataset, DatasetVersion, Run, RunScorer, Team, Verdict
from scoring.models.case_list.change_filter import ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder, CaseTable
from scoring.models.pairs.rows import PairKind

MAX_LISTED: Final = 5  # runs of one name that an error tells apart


def get_dataset(team: Team, name: str) -> Dataset:
    dataset = team.datasets.filter(name=checked_name("--dataset", name)).first()
    if dataset is None:
        raise usage_error(f"the team {team.slug} has no dataset {name!r}")
    return dataset


def get_run(team: Team, dataset: Dataset | None, name: str) -> Run:
    """The run of this id, else the newest of this name that has ended."""
    known = Run.objects.filter(team=team).select_related("output_set__version__dataset")
    if uid := _uuid(name):
        run = known.filter(uuid=uid).first()
        if run is None:
            raise usage_error(f"the team {team.slug} has no run {name}")
        return run
    ended = known.ended().filter(name=checked_name("RUN", name)).order_by("-pk")
    runs = list(ended.of_dataset(dataset) if dataset else ended)
    if not runs:
        where = f"dataset {dataset}" if dataset else f"team {team.slug}"
        raise usage_error(f"the {where} has no run {name!r} that has ended")
    datasets = {run.output_set.version.dataset.name for run in runs}
    if len(datasets) > 1:
        names = ", ".join(sorted(datasets)[:MAX_LISTED])
        raise usage_error(f"several datasets have a run {name!r}: name one with --dataset: {names}")
    return runs[0]


def get_version(dataset: Dataset, number: int | None) -> DatasetVersion:
    """The version of this number, the latest without one."""
    versions = dataset.versions.order_by("-number")
    version = (versions if number is None else versions.filter(number=number)).first()
    if version is None:
        last = versions.first()
        known = f"it has 1 to {last.number}" if last else "it is still loading"
        what = "no version" if number is None else f"no version {number}"
        raise usage_error(f"the dataset {dataset} has {what}: {known}")
    return version


def select_cases(run: Run, options: dict[str, Any]) -> CaseTable:
    """The run's cases that pass `verdict`, `scorer`, `min` …, in the order of `sort`."""
    scorers = list(run.scorers.with_summary())
    limits = {name: options[name] for name in ("min", "max") if options[name] is not None}
    for name, limit in limits.items():
        if not 0 <= limit <= 1:
            raise usage_error(f"--{name}: {limit:g} is no score, which is from 0 to 1")
    filters = CaseFilters(
        verdict=next((item for item in Verdict if item.label == options["verdict"]), None),
        scorer=_scorer(
            "--scorer", options["scorer"], scorers, is_required=options["code"] or limits
        ),
        minimum=options["min"],
        maximum=options["max"],
        code=options["code"],
        tag=options["tag"],
        text=options["search"],
        unsteady=options["unsteady"],
        change=_change(run, options["changed"], options["against"]),
        reviewed={"yes": True, "no": False}.get(options["reviewed"]),
    )
    sort = _scorer("--sort", options["sort"], scorers)
    return CaseTable(run, scorers, filters, CaseOrder(sort, options["descending"]))


def _change(run: Run, kind: str | None, name: str) -> ChangeFilter | None:
    """What became of the cases since the run of this name, `auto` the run's baseline."""
    if kind is None:
        return None
    dataset = run.output_set.version.dataset
    against = run_baseline(run) if name == "auto" else get_run(run.team, dataset, name)
    if against is None:
        raise usage_error("--changed: the run has no baseline, name a run with --against")
    if against == run or against.output_set.version.dataset != dataset:
        raise usage_error(f"--against: {name!r} is not another run of the dataset {dataset}")
    return ChangeFilter(PairKind(kind), against)


def _scorer(
    option: str, name: str | None, scorers: Sequence[RunScorer], *, is_required: object = False
) -> RunScorer | None:
    if name is None and not is_required:
        return None
    matching = [scorer for scorer in scorers if name in (None, scorer.name)]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(scorer.name for scorer in scorers)
    problem = "say whose score is meant" if name is None else f"the run has no scorer {name!r}"
    raise usage_error(f"{option}: {problem}; it has: {names}")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
