"""`manage.py evaluate`: score a dataset's outputs, store and print the result, check gates."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from scoring.core.contract import ConfigError
from scoring.engine.compare import gates
from scoring.engine.compare.gates import Gate
from scoring.engine.jobs import lease
from scoring.engine.outputs.generation import create_output_set
from scoring.engine.processes.process_pool import Executor, InlineExecutor, ProcessPool
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.reports import run_summary
from scoring.engine.runs import neighbours, planning
from scoring.engine.runs.progress import RunProgress, run_progress
from scoring.engine.runs.requirements import run_needs_services
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.management.console import (
    OperatorCommand,
    check_writable,
    checked_name,
    find_or_create_team,
    parse_date,
    requires_database,
    usage_error,
)
from scoring.management.database import set_up_database
from scoring.management.file_options import NAMES, add_file_options, file_options, shown_column
from scoring.management.recipe_options import add_recipe_options, check_recipe_options, read_recipe
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
from scoring.models.runs.run import is_future_date

if TYPE_CHECKING:
    from scoring.engine.suites import suite_file

    _Suite = Suite | suite_file.ImportPlan  # a plan is carried out with the run

SHOW_SECONDS: Final = 0.2
MAX_ARGUMENT: Final = 4_096  # a path may be so long

GATE_HELP: Final = (
    "pass_rate>=0.9, mean.SCORER>=0.8, regressions<=0 or no_regression; may be given several times"
)


class Command(OperatorCommand):
    help = "Score the outputs of a dataset, store the run, print its table and check its gates."
    requires_system_checks = []  # they load every page, half a second for nothing here

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("dataset", metavar="DATASET")
        add("--team", metavar="SLUG", help="needed where there are several teams")
        add("--outputs", type=Path, metavar="FILE", help="outputs to load over the latest version")
        add("--map", action="append", default=[], metavar="FIELD=COLUMN", help="with --outputs")
        add_file_options(parser)
        add_recipe_options(parser)
        add("--series", help="the drift line of these outputs")
        add("--dated", type=parse_date, metavar="ISO", help="the outputs' date, now unless given")
        add("--allow-future-date", action="store_true", help="--dated in the future is meant")
        add("--suite", metavar="NAME|FILE", help="the dataset's own suite unless given")
        add("--name", default="", metavar="RUN", help="the new run's name")
        add(
            "--baseline", metavar="RUN|auto", help="auto: the pinned run, else the series' previous"
        )
        add("--gate", action="append", default=[], metavar="EXPR", help=GATE_HELP)
        add("--max-errors", type=float, default=gates.DEFAULT_UNJUDGED, metavar="SHARE",
            help="gates are undecided over this share of errors and skips")  # fmt: skip
        add("--min-drop", type=float, default=gates.DEFAULT_DROP, metavar="SHARE",
            help="no_regression is undecided unless it could find such a drop")  # fmt: skip
        add("--budget", type=_amount, metavar="USD", help="call no model once this is spent")
        add("--junit", type=Path, metavar="FILE")
        add("--markdown", type=Path, metavar="FILE")
        add("--json", action="store_true", help="print JSON instead of the table")

    def handle(self, *_: Any, **options: Any) -> None:
        _check_names(options)
        check_recipe_options(options)
        _check_loading(options)
        _check_date(options["dated"], allow_future=options["allow_future_date"])
        try:
            with requires_database():
                set_up_database(self.stderr)
                wanted = [gates.parse_gate(text) for text in options["gate"]]
                run, baseline = self._score(wanted, options)
        except (ConfigError, gates.GateError) as fault:
            raise usage_error(str(fault)) from None
        if baseline and any(gate.metric == gates.NO_REGRESSION for gate in wanted):
            self._check_judges(run)
        limits = gates.GateLimits(options["max_errors"], options["min_drop"])
        check = gates.check_gates(run, baseline, wanted, limits)
        seeks_baseline = options["baseline"] == "auto"
        report = run_summary.Report(*check, seeks_baseline=seeks_baseline)
        self._write(report, options)
        missed = [outcome.gate.text for outcome in report.outcomes if outcome.state != "passed"]
        if missed:
            raise CommandError(f"not met: {', '.join(missed)}", returncode=1)

    def _score(self, wanted: list[Gate], options: dict[str, Any]) -> tuple[Run, Run | None]:
        """The finished run and its baseline; what can be refused is refused before it is stored."""
        team, _ = find_or_create_team(options["team"])
        version = _version(team, options["dataset"])
        suite = _suite(team, version.dataset, options["suite"])
        _check_gates(wanted, suite, options)
        for path in filter(None, (options["junit"], options["markdown"])):
            check_writable(path)
        baseline = _named_baseline(version.dataset, options["baseline"])
        run = self._run(self._outputs(version, options), suite, options)
        return run, neighbours.run_baseline(run) if options["baseline"] == "auto" else baseline

    def _outputs(self, version: DatasetVersion, options: dict[str, Any]) -> Callable[[], OutputSet]:
        """Returns the outputs to score when called; outputs to generate are planned only then."""
        if options["generate"]:
            recipe = read_recipe(version.dataset.team, options)
            named = {name: options[name] for name in ("series", "dated") if options[name]}
            return lambda: create_output_set(version, recipe, **named)
        if options["outputs"]:
            outputs = self._load(version, options)
        else:
            outputs = _present_outputs(version, options["series"])
        return lambda: outputs

    def _load(self, version: DatasetVersion, options: dict[str, Any]) -> OutputSet:
        from scoring.core.files import FileProblem
        from scoring.engine.imports import RefusedError, import_outputs_file

        path, choices = options["outputs"], _choices(options["map"])
        series, dated = options["series"] or "", options["dated"]
        try:
            loaded = import_outputs_file(
                version, path, series, dated, choices, options=file_options(options)
            )
        except FileProblem as fault:
            raise usage_error(f"{fault.code}: {fault.text}") from None
        except RefusedError as fault:
            raise usage_error(f"{fault.report.problems[0].code}: {fault}") from None
        except OSError as fault:
            raise usage_error(f"{path} cannot be read: {fault.strerror}") from None
        except KeyboardInterrupt:
            raise CommandError("stopped; nothing was stored", returncode=130) from None
        report = loaded.report
        if loaded.unmatched:
            without = f"outputs without a case in {version}: {report.unmatched_count:,}"
            self.stderr.write(f"{without}: {report.name_unmatched()}")
        if report.unused_columns:
            unused = ", ".join(map(shown_column, report.unused_columns))
            self.stderr.write(f"columns not used: {unused}")
        for note in report.notes.listed:
            self.stderr.write(note.message)
        return loaded.output_set

    def _run(self, outputs: Callable[[], OutputSet], suite: _Suite, options: dict[str, Any]) -> Run:
        with transaction.atomic():  # leased at once, before a worker takes it
            named = {"suite": suite} if isinstance(suite, Suite) else suite.prepare_run()._asdict()
            name, budget = options["name"], options["budget"]
            run = planning.create_run(outputs(), **named, name=name, budget_usd=budget)
            lease.acquire(run)
        if run.thresholds_note:
            text = "keeps its thresholds; an administrator accepts or rejects those of the file"
            self.stderr.write(f"the suite {run.suite_name} {text} on the suite's page")
        shows = sys.stderr.isatty() and not options["json"]
        try:
            with _progress_bar(run, shows=shows) as update, _executor(run) as executor:
                run_to_end(run, executor, update)
        except KeyboardInterrupt:
            planning.cancel_run(run, by=None)
            raise CommandError(f"cancelled the run {run.name}", returncode=130) from None
        if run.state != RunState.FINISHED:
            why = f": it was given up ({run.failure})" if run.failure else ""
            raise CommandError(f"the run {run.name} is {run.state}{why}", returncode=1)
        return run

    def _check_judges(self, run: Run) -> None:
        """Measure the noise of judges that no check has measured: there may be no worker."""
        from scoring.engine.judges import automatic_checks

        for problem in automatic_checks.check_now(run):
            self.stderr.write(problem)

    def _write(self, report: run_summary.Report, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(run_summary.as_json(report), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(run_summary.as_table(report))
        if options["markdown"]:
            options["markdown"].write_text(run_summary.as_markdown(report), encoding="utf-8")
        if options["junit"]:
            with options["junit"].open("w", encoding="utf-8") as out:
                run_summary.write_junit(report, out)


def _executor(run: Run) -> AbstractContextManager[Executor]:
    """Threads for a run that asks models; processes only where they are worth their start."""
    if run_needs_services(run):
        return ThreadPool()
    if run.output_set.output_count <= planning.SHARD_OUTPUTS:
        return nullcontext(InlineExecutor())
    # Elsewhere system libraries may have started threads, which no copy survives.
    return ProcessPool(settings.EVALSITE_WORKER_PROCESSES, forks=sys.platform == "linux")


def _amount(text: str) -> float:
    try:
        if 0 <= (amount := float(text)) < inf:
            return amount
    except ValueError:
        pass
    raise ArgumentTypeError(f"{text!r} is no amount in US dollars; write it like 2.50")


def _check_names(options: dict[str, Any]) -> None:
    for option in ("series", "name"):
        if options[option]:
            options[option] = checked_name(f"--{option}", options[option])
    for label, name in (("DATASET", options["dataset"]), ("--suite", options["suite"])):
        if name:
            checked_name(label, name, MAX_ARGUMENT)


def _check_loading(options: dict[str, Any]) -> None:
    """Refuse options for loading outputs where none are loaded."""
    for option in ("map", "dated", *NAMES):
        is_generated = option == "dated" and options["generate"]
        if options[option] and not options["outputs"] and not is_generated:
            name = "no-header" if (option, options[option]) == ("header", "no") else option
            name = name.replace("_", "-")
            raise usage_error(f"--{name} needs --outputs FILE: it tells how to load that file")


def _check_date(dated: datetime | None, *, allow_future: bool) -> None:
    if dated and is_future_date(dated) and not allow_future:
        text = f"--dated: {dated:%Y-%m-%d} is in the future"
        raise usage_error(f"{text}; correct it, or add --allow-future-date if it is meant")


def _version(team: Team, name: str) -> DatasetVersion:
    dataset = team.datasets.filter(name=name).select_related("latest", "suite").first()
    if dataset is None:
        raise usage_error(f"the team {team.slug} has no dataset {name!r}")
    if dataset.latest is None:
        raise usage_error(f"the dataset {name!r} is not loaded yet")
    dataset.latest.dataset = dataset
    return dataset.latest


def _suite(team: Team, dataset: Dataset, name: str | None) -> _Suite:
    """The team's suite of that name, or the plan of the suite file of that path."""
    if name is None:
        if dataset.suite is None:
            text = f"the dataset {dataset} has no suite of its own; name one with --suite"
            raise usage_error(text)
        return dataset.suite
    suite, is_file = team.suites.filter(name=name).first(), Path(name).is_file()
    if suite is not None and is_file:
        text = f"{name!r} is both a suite of the team {team.slug} and a file"
        raise usage_error(f"{text}; write ./{name} for the file, or rename one of them")
    if suite is not None:
        return suite
    if not is_file:
        raise usage_error(f"{name!r} is neither a suite of the team {team.slug} nor a file")
    from scoring.engine.suites import suite_file

    return suite_file.plan_import(team, Path(name))


def _check_gates(wanted: list[Gate], suite: _Suite, options: dict[str, Any]) -> None:
    if isinstance(suite, Suite):
        names = set(suite.entries.values_list("scorer__name", flat=True))
    else:
        names = {scorer.name for scorer in suite.described.scorers}
    if not names:
        raise usage_error(f"the suite {suite} has no scorers; add one on its page")
    gates.check_scorers(wanted, names, f"the suite {suite}")
    for gate in wanted:
        if gate.metric in gates.COMPARING_METRICS and not options["baseline"]:
            raise usage_error(f"{gate.text} needs --baseline RUN or --baseline auto")
    gates.GateLimits(options["max_errors"], options["min_drop"]).check()


def _named_baseline(dataset: Dataset, name: str | None) -> Run | None:
    if name in (None, "auto"):
        return None
    runs = Run.objects.filter(output_set__version__dataset=dataset, state=RunState.FINISHED)
    run = runs.filter(name=name).order_by("-pk").first()
    if run is None:
        raise usage_error(f"the dataset {dataset} has no finished run {name!r}")
    return run


def _present_outputs(version: DatasetVersion, series: str | None) -> OutputSet:
    sets = version.output_sets.filter(state=OutputSetState.READY)
    known = sorted(set(sets.values_list("series", flat=True)))
    if series is None and len(known) > 1:
        raise usage_error(f"{version} has outputs of several series, name one: {', '.join(known)}")
    wanted = sets.filter(series=series or (known[0] if known else ""))
    outputs = wanted.order_by("-series_time", "-pk").first()
    if outputs is None:
        of = f" of the series {series!r}" if series else ""
        raise usage_error(f"{version} has no outputs{of}; give a file with --outputs")
    outputs.version = version
    return outputs


def _choices(pairs: list[str]) -> dict[str, list[str]]:
    """Columns by field; a field may be given several columns."""
    choices: dict[str, list[str]] = {}
    for pair in pairs:
        field, _, column = pair.partition("=")
        if not (field and column):
            raise usage_error(f"--map {pair!r} does not read FIELD=COLUMN")
        choices.setdefault(field, []).append(column)
    return choices


@contextmanager
def _progress_bar(run: Run, *, shows: bool) -> Iterator[Callable[[], None]]:
    """A progress bar; yields the function that updates it."""
    if not shows:
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(unit=" outputs", file=sys.stderr) as bar:
        last = 0.0

        def update() -> None:
            nonlocal last
            if time.monotonic() - last > SHOW_SECONDS:
                last = time.monotonic()
                _update_bar(bar, run_progress(run))

        yield update
        _update_bar(bar, run_progress(run))


def _update_bar(bar: Any, progress: RunProgress) -> None:
    """Generating outputs and scoring them are counted one after the other."""
    bar.set_description_str(progress.stage, refresh=False)
    bar.set_postfix_str(progress.cause or "", refresh=False)
    bar.total = progress.total
    bar.update(progress.done - bar.n)
