"""`manage.py evaluate`: score a dataset's outputs, store and print the result, check gates."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from scoring.core.contract import ConfigError
from scoring.engine import gates, hold, plan, report, suite_file
from scoring.engine.dispatch import work_on
from scoring.engine.gates import Gate
from scoring.engine.generate import planned_outputs
from scoring.engine.needs import needs_services
from scoring.engine.pool import Executor, Inline, Pool
from scoring.engine.progress import Progress, progress_of
from scoring.engine.regressions import regressions_of
from scoring.engine.threads import Threads
from scoring.management.console import (
    check_writable,
    checked_name,
    database_needed,
    misuse,
    the_team,
)
from scoring.management.reading import NAMES, add_reading_options, reading_options
from scoring.management.recipes import add_recipe_options, check_recipe_options, recipe_of
from scoring.models import (
    Dataset,
    DatasetVersion,
    OutputSet,
    OutputSetState,
    Run,
    RunState,
    Suite,
    Team,
)

_Suite = Suite | suite_file.Plan  # a plan is carried out with the run

SHOW_SECONDS: Final = 0.2
MOST_ARGUMENT: Final = 4_096  # a path may be so long

GATE_HELP: Final = "pass_rate>=0.9, mean.SCORER>=0.8 or regressions<=0; may be given several times"


class Command(BaseCommand):
    help = "Score the outputs of a dataset, store the run, print its table and check its gates."
    requires_system_checks = []  # they load every page, half a second for nothing here

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("dataset", metavar="DATASET")
        add("--team", metavar="SLUG", help="needed where there are several teams")
        add("--outputs", type=Path, metavar="FILE", help="outputs to load over the latest version")
        add("--map", action="append", default=[], metavar="FIELD=COLUMN", help="with --outputs")
        add_reading_options(parser)
        add_recipe_options(parser)
        add("--series", help="the drift line of these outputs")
        add("--dated", type=_date, metavar="ISO", help="the outputs' date, now unless given")
        add("--suite", metavar="NAME|FILE", help="the dataset's own suite unless given")
        add("--name", default="", metavar="RUN", help="the new run's name")
        add(
            "--baseline", metavar="RUN|auto", help="auto: the pinned run, else the series' previous"
        )
        add("--gate", action="append", default=[], metavar="EXPR", help=GATE_HELP)
        add("--max-errors", type=float, default=0.05, metavar="SHARE",
            help="gates are undecided over this share of errors and skips")  # fmt: skip
        add("--budget", type=_amount, metavar="USD", help="call no model once this is spent")
        add("--junit", type=Path, metavar="FILE")
        add("--markdown", type=Path, metavar="FILE")
        add("--json", action="store_true", help="print JSON instead of the table")

    def handle(self, *_: Any, **options: Any) -> None:
        _check_names(options)
        check_recipe_options(options)
        _check_loading(options)
        try:
            with database_needed():
                run, baseline = self._scored(options)
        except (ConfigError, gates.GateError) as fault:
            raise misuse(str(fault)) from None
        asked = [gates.parse_gate(text) for text in options["gate"]]
        limit = options["max_errors"]
        worse = regressions_of(run, baseline) if baseline else None
        found = report.Report(
            run,
            baseline,
            worse,
            [gates.check_gate(gate, run, worse, limit) for gate in asked],
            seeks_baseline=options["baseline"] == "auto",
        )
        self._write(found, options)
        missed = [each.gate.text for each in found.outcomes if each.state != "passed"]
        if missed:
            raise CommandError(f"not met: {', '.join(missed)}", returncode=1)

    def _scored(self, options: dict[str, Any]) -> tuple[Run, Run | None]:
        """The finished run and its baseline; what can be refused is refused before it is stored."""
        asked = [gates.parse_gate(text) for text in options["gate"]]
        team = the_team(options["team"])
        version = _version(team, options["dataset"])
        suite = _suite(team, version.dataset, options["suite"])
        _check_gates(asked, suite, options)
        for path in filter(None, (options["junit"], options["markdown"])):
            check_writable(path)
        named = _named_baseline(version.dataset, options["baseline"])
        run = self._run(self._outputs(version, options), suite, options)
        return run, gates.baseline_of(run) if options["baseline"] == "auto" else named

    def _outputs(self, version: DatasetVersion, options: dict[str, Any]) -> Callable[[], OutputSet]:
        """Gives what is to be scored; outputs that are to be made are planned only then."""
        if options["generate"]:
            recipe = recipe_of(version.dataset.team, options)
            named = {name: options[name] for name in ("series", "dated") if options[name]}
            return lambda: planned_outputs(version, recipe, **named)
        if options["outputs"]:
            outputs = self._loaded(version, options)
        else:
            outputs = _present_outputs(version, options["series"])
        return lambda: outputs

    def _loaded(self, version: DatasetVersion, options: dict[str, Any]) -> OutputSet:
        from scoring.core.files import FileProblem
        from scoring.engine.loading import RefusedError, load_outputs_file

        path, choices = options["outputs"], _choices(options["map"])
        series, dated = options["series"] or "", options["dated"]
        try:
            loaded = load_outputs_file(
                version, path, series, dated, choices, options=reading_options(options)
            )
        except FileProblem as fault:
            raise misuse(f"{fault.code}: {fault.text}") from None
        except RefusedError as fault:
            raise misuse(str(fault)) from None
        except OSError as fault:
            raise misuse(f"{path} cannot be read: {fault.strerror}") from None
        except KeyboardInterrupt:
            raise CommandError("stopped; nothing was stored", returncode=130) from None
        if loaded.unmatched:
            self.stderr.write(f"outputs without a case in {version}: {len(loaded.unmatched):,}")
        return loaded.output_set

    def _run(self, outputs: Callable[[], OutputSet], asked: _Suite, options: dict[str, Any]) -> Run:
        with transaction.atomic():  # held at once, lest a worker takes it first
            named, budget = options["name"], options["budget"]
            suite = _stored(asked)
            run = plan.new_run(outputs(), suite=suite, name=named, budget_usd=budget)
            hold.take(run)
        shows = sys.stderr.isatty() and not options["json"]
        try:
            with _bar(run, shows=shows) as show, _executor(run) as executor:
                work_on(run, executor, show)
        except KeyboardInterrupt:
            plan.cancel(run, by=None)
            raise CommandError(f"cancelled the run {run.name}", returncode=130) from None
        if run.state != RunState.FINISHED:
            raise CommandError(f"the run {run.name} is {run.state}", returncode=1)
        return run

    def _write(self, found: report.Report, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(found), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(report.table(found))
        if options["markdown"]:
            options["markdown"].write_text(report.markdown(found), encoding="utf-8")
        if options["junit"]:
            with options["junit"].open("w", encoding="utf-8") as out:
                report.write_junit(found, out)


def _executor(run: Run) -> AbstractContextManager[Executor]:
    """Threads for a run that asks models; processes only where they are worth their start."""
    if needs_services(run):
        return Threads()
    if run.output_set.output_count <= plan.SHARD_OUTPUTS:
        return nullcontext(Inline())
    return Pool(settings.EVALSITE_WORKER_PROCESSES)


def _amount(text: str) -> float:
    try:
        if 0 <= (amount := float(text)) < inf:
            return amount
    except ValueError:
        pass
    raise ArgumentTypeError(f"{text!r} is no amount in US dollars; write it like 2.50")


def _date(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        example = "2026-11-20 or 2026-11-20T09:30+01:00"
        raise ArgumentTypeError(f"{text!r} is no date; write it like {example}") from None


def _check_names(options: dict[str, Any]) -> None:
    for option in ("series", "name"):
        if options[option]:
            options[option] = checked_name(f"--{option}", options[option])
    for label, name in (("DATASET", options["dataset"]), ("--suite", options["suite"])):
        if name:
            checked_name(label, name, MOST_ARGUMENT)


def _check_loading(options: dict[str, Any]) -> None:
    """Refuse what only says how to load outputs where none are loaded."""
    for option in ("map", "dated", *NAMES):
        is_made = option == "dated" and options["generate"]
        if options[option] and not options["outputs"] and not is_made:
            name = "no-header" if (option, options[option]) == ("header", "no") else option
            raise misuse(f"--{name} needs --outputs FILE: it tells how to load that file")


def _version(team: Team, name: str) -> DatasetVersion:
    dataset = team.datasets.filter(name=name).select_related("latest", "suite").first()
    if dataset is None:
        raise misuse(f"the team {team.slug} has no dataset {name!r}")
    if dataset.latest is None:
        raise misuse(f"the dataset {name!r} is not loaded yet")
    dataset.latest.dataset = dataset
    return dataset.latest


def _suite(team: Team, dataset: Dataset, given: str | None) -> _Suite:
    if given is None:
        if dataset.suite is None:
            raise misuse(f"the dataset {dataset} has no suite of its own; name one with --suite")
        return dataset.suite
    suite = team.suites.filter(name=given).first()
    if suite is not None:
        return suite
    if not Path(given).is_file():
        raise misuse(f"{given!r} is neither a suite of the team {team.slug} nor a file")
    return suite_file.plan_from_file(team, Path(given))


def _stored(suite: _Suite) -> Suite:
    return suite if isinstance(suite, Suite) else suite.carry_out(None)


def _names(suite: _Suite) -> set[str]:
    """Of its scorers."""
    if isinstance(suite, Suite):
        return set(suite.entries.values_list("scorer__name", flat=True))
    return {each.name for each in suite.described.scorers}


def _check_gates(asked: list[Gate], suite: _Suite, options: dict[str, Any]) -> None:
    names = _names(suite)
    if not names:
        raise misuse(f"the suite {suite} has no scorers; add one on its page")
    for gate in asked:
        if gate.scorer and gate.scorer not in names:
            known = ", ".join(sorted(names))
            raise misuse(f"{gate.text}: the suite {suite} has no such scorer; it has: {known}")
        if gate.metric == "regressions" and not options["baseline"]:
            raise misuse(f"{gate.text} needs --baseline RUN or --baseline auto")
    if not 0 <= options["max_errors"] <= 1:
        raise misuse("--max-errors is a share from 0 to 1")


def _named_baseline(dataset: Dataset, name: str | None) -> Run | None:
    if name in (None, "auto"):
        return None
    runs = Run.objects.filter(output_set__version__dataset=dataset, state=RunState.FINISHED)
    run = runs.filter(name=name).order_by("-pk").first()
    if run is None:
        raise misuse(f"the dataset {dataset} has no finished run {name!r}")
    return run


def _present_outputs(version: DatasetVersion, series: str | None) -> OutputSet:
    sets = version.output_sets.filter(state=OutputSetState.READY)
    known = sorted(set(sets.values_list("series", flat=True)))
    if series is None and len(known) > 1:
        raise misuse(f"{version} has outputs of several series, name one: {', '.join(known)}")
    wanted = sets.filter(series=series or (known[0] if known else ""))
    outputs = wanted.order_by("-dated", "-pk").first()
    if outputs is None:
        of = f" of the series {series!r}" if series else ""
        raise misuse(f"{version} has no outputs{of}; give a file with --outputs")
    outputs.version = version
    return outputs


def _choices(pairs: list[str]) -> dict[str, list[str]]:
    """Columns by field; a field may be given several columns."""
    choices: dict[str, list[str]] = {}
    for pair in pairs:
        field, _, column = pair.partition("=")
        if not (field and column):
            raise misuse(f"--map {pair!r} does not read FIELD=COLUMN")
        choices.setdefault(field, []).append(column)
    return choices


@contextmanager
def _bar(run: Run, *, shows: bool) -> Iterator[Callable[[], None]]:
    """A progress bar; yields the function that brings it up to date."""
    from tqdm import tqdm

    with tqdm(unit=" outputs", disable=not shows, file=sys.stderr) as bar:
        last = 0.0

        def show() -> None:
            nonlocal last
            if shows and time.monotonic() - last > SHOW_SECONDS:
                last = time.monotonic()
                _bring_up_to_date(bar, progress_of(run))

        yield show
        if shows:
            _bring_up_to_date(bar, progress_of(run))


def _bring_up_to_date(bar: Any, progress: Progress) -> None:
    """Making outputs and scoring them are counted one after the other."""
    bar.set_description_str(progress.stage, refresh=False)
    bar.set_postfix_str(progress.cause or "", refresh=False)
    bar.total = progress.total
    bar.update(progress.done - bar.n)
