"""`manage.py thresholds`: a suite's thresholds, previews, changes, and later labels of its runs."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from itertools import islice
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder

from scoring.core.json_text import to_text
from scoring.core.wording.numbers import share_text, to_ascii
from scoring.core.wording.thresholds import agreement_sentence
from scoring.engine.thresholds.agreement import read_agreement
from scoring.engine.thresholds.description import (
    describe_flips,
    describe_preview,
    describe_thresholds,
)
from scoring.engine.thresholds.preview import Preview, RunPreview
from scoring.engine.thresholds.relabelling import (
    RUNS,
    find_runs_to_relabel,
    needs_relabel,
    relabel_runs,
    remove_labels,
)
from scoring.management.console import (
    OperatorCommand,
    count_text,
    find_team,
    requires_database,
    text_table,
    usage_error,
)
from scoring.management.database import check_database
from scoring.management.lookups import get_run
from scoring.models import Relabel, Run, RunState, Suite, SuiteEntry, ThresholdChange
from scoring.models.scorers.threshold_change import StaleThresholdError

MAX_LISTED: Final = 20  # cases that flip, and changes of thresholds
LISTED_JSON: Final = 1_000


class Command(OperatorCommand):
    help = (
        "Show a suite's thresholds, preview what another one would do, change one, re-label "
        "finished runs by the present ones, or remove such labels."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        metavar = "show|preview|set|relabel"
        actions = parser.add_subparsers(dest="action", required=True, metavar=metavar)
        overview = actions.add_parser("show", help="thresholds, pass rates and the history")
        preview = actions.add_parser("preview", help="what flips at another threshold")
        change = actions.add_parser("set", help="change a threshold, with a reason")
        relabel = actions.add_parser("relabel", help="label finished runs by the thresholds now")
        for action in (overview, preview, change, relabel):
            action.add_argument("suite", metavar="SUITE")
            action.add_argument("--team", metavar="SLUG", help="needed where there are several")
        for action in (preview, change):
            action.add_argument("scorer", metavar="SCORER")
            action.add_argument("threshold", metavar="X", help="from 0 to 1")
        for action in (overview, preview):
            action.add_argument("--json", action="store_true", help="print JSON instead of tables")
        change.add_argument("--reason", metavar="TEXT", default="", help="kept in the history")
        relabel.add_argument("--run", metavar="RUN", help="this one alone, by name or id")
        relabel.add_argument(
            "--last", metavar="N", type=int, default=RUNS, help=f"how many runs (default: {RUNS})"
        )
        relabel.add_argument(
            "--remove", action="store_true", help="remove the later labels of these runs"
        )

    def handle(self, **options: Any) -> None:
        with requires_database():
            check_database()
            suite = _named_suite(options)
            self.stdout.write(_ACTIONS[options["action"]](suite, options))


def _overview(suite: Suite, options: dict[str, Any]) -> str:
    if options["json"]:
        return _json(describe_thresholds(suite))
    previews = [Preview.of(entry, entry.threshold) for entry in _entries(suite)]
    changes = suite.threshold_changes.select_related("scorer", "changed_by")
    head = ("scorer", "threshold", "default", "pass rate", "n of N", "run")
    lines = text_table(head, [_overview_row(preview) for preview in previews])
    listed = list(changes[:MAX_LISTED])
    if listed:
        lines += [
            "",
            *text_table(("changed", "scorer", "change", "by", "reason"), _change_rows(listed)),
        ]
    return "\n".join(lines)


def _overview_row(preview: Preview) -> tuple[str, ...]:
    scorer, latest = preview.scorer, preview.latest
    names = (scorer.name, to_text(preview.old), to_text(scorer.threshold))
    if latest is None:
        return (*names, "-", "-", "no run yet")
    return (*names, _share(latest.counts.rate_before), _n_of_n(latest), latest.run.name)


def _change_rows(changes: list[ThresholdChange]) -> list[tuple[str, ...]]:
    return [
        (
            f"{change.changed_at:%Y-%m-%d %H:%M}",
            change.scorer.name,
            change.text,
            str(change.changed_by or "the operator"),
            " ".join(change.reason.split()) or "-",
        )
        for change in changes
    ]


def _preview(suite: Suite, options: dict[str, Any]) -> str:
    entry, new = _named_entry(suite, options["scorer"]), _threshold(options["threshold"])
    if new == entry.threshold:
        raise usage_error(f"the threshold of {entry.scorer} is {to_text(new)} already")
    preview = Preview.of(entry, new)
    latest = preview.latest
    if options["json"]:
        return _json(_preview_json(preview))
    if latest is None:
        return f"No finished run of {suite} has scores of {entry.scorer}, so nothing can be shown."
    head = ("run", "n of N", "pass rate", "then", "to pass", "to fail")
    sentences = filter(None, [latest.sentence, latest.case_verdicts_sentence])
    lines = [to_ascii(" ".join(sentences)), *_agreement_lines(preview), ""]
    lines += text_table(head, [_run_row(run) for run in preview.runs])
    cases = latest.flips.page(size=MAX_LISTED).cases
    if cases:
        rows = [
            (c.key if not c.trial else f"{c.key} trial {c.trial}", to_text(c.score),
             "changes" if c.changes_case else "stays")
            for c in cases
        ]  # fmt: skip
        lines += ["", *text_table((f"case of {latest.run.name}", "score", "case verdict"), rows)]
    if latest.counts.flips > len(cases):
        lines.append(f"and {count_text(latest.counts.flips - len(cases), 'more case')}")
    return "\n".join(lines)


def _agreement_lines(preview: Preview) -> list[str]:
    agreement = read_agreement(preview)
    if agreement is None:
        return []
    kappas = {t: agreement.table_at(t).kappa for t in (preview.old, preview.new)}
    values = {t: kappa and kappa.value for t, kappa in kappas.items()}
    best, good = None, (0.0, 0.0)
    if agreement.best:
        best, good = agreement.best.threshold, agreement.best.as_good
    return [agreement_sentence(len(agreement.labels), values, best, good)]


def _run_row(run: RunPreview) -> tuple[str, ...]:
    counts = run.counts
    rates = _share(counts.rate_before), _share(counts.rate_after)
    return (run.run.name, _n_of_n(run), *rates, f"{counts.to_pass:,}", f"{counts.to_fail:,}")


def _preview_json(preview: Preview) -> dict[str, Any]:
    latest = preview.latest
    cases = latest.flips.page(size=LISTED_JSON).cases if latest else ()
    return {**describe_preview(preview, latest), "cases": describe_flips(cases)}


def _set(suite: Suite, options: dict[str, Any]) -> str:
    entry, new = _named_entry(suite, options["scorer"]), _threshold(options["threshold"])
    try:
        change = entry.change_threshold(new, by=None, reason=options["reason"])
    except ValidationError as fault:
        raise usage_error(" ".join(fault.messages)) from None
    except StaleThresholdError as stale:
        raise CommandError(str(stale)) from None
    return f"{suite}, {entry.scorer}: {change.text}"


def _relabel(suite: Suite, options: dict[str, Any]) -> str:
    if options["last"] < 1:
        raise usage_error("--last: give a number of runs, 1 or more")
    run = _named_run(suite, options["run"]) if options["run"] is not None else None
    if options["remove"]:
        return _remove_labels(suite, run, options["last"])
    if run is None:
        runs = find_runs_to_relabel(suite, options["last"])
    else:
        runs = [run] if needs_relabel(run) else []
    if not runs:
        return f"No finished run of {suite} would get other labels."
    relabel_runs(runs, by=None)
    head = ("run", "pass", "re-labelled", "thresholds")
    return "\n".join(text_table(head, [_relabelled_row(run) for run in runs]))


def _remove_labels(suite: Suite, run: Run | None, last: int) -> str:
    """Of the run, else of the last finished runs of the suite."""
    finished = suite.runs.filter(state=RunState.FINISHED).select_related("team").order_by("-pk")
    runs = [run] if run else list(finished[:last])
    removed = [run.name for run in runs if remove_labels(run, by=None)]
    if not removed:
        return (
            f"No finished run of {suite} has later labels."
            if run is None
            else (f"{run} has no later labels.")
        )
    return f"Labels removed: {', '.join(removed)}."


def _named_run(suite: Suite, name: str) -> Run:
    run = get_run(suite.team, None, name)
    if run.suite_id != suite.pk or run.state != RunState.FINISHED:
        raise usage_error(f"--run: {run} is no finished run of the suite {suite}")
    return run


def _relabelled_row(run: Run) -> tuple[str, ...]:
    labels = Relabel.objects.latest_of(run)
    passed = f"{run.pass_count or 0:,} of {run.case_count or 0:,}"
    if labels is None:
        return (run.name, passed, "-", "those of the run again; labels removed")
    return (run.name, passed, f"{labels.pass_count:,} of {run.case_count or 0:,}", labels.text)


def _entries(suite: Suite) -> list[SuiteEntry]:
    return list(suite.entries.select_related("scorer", "suite__team"))


def _named_suite(options: dict[str, Any]) -> Suite:
    team, name = find_team(options["team"]), options["suite"]
    suite = team.suites.filter(name=name).first()
    if suite is None:
        known = ", ".join(islice(team.suites.order_by("name").values_list("name", flat=True), 20))
        raise usage_error(f"the team {team.slug} has no suite {name!r}; it has: {known or 'none'}")
    return suite


def _named_entry(suite: Suite, name: str) -> SuiteEntry:
    entries = _entries(suite)
    for entry in entries:
        if entry.scorer.name == name:
            return entry
    known = ", ".join(entry.scorer.name for entry in entries)
    raise usage_error(f"the suite {suite} has no scorer {name!r}; it has: {known}")


def _threshold(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:  # also true of NaN
        raise usage_error(f"{text!r} is no threshold: give a number from 0 to 1")
    return number


def _share(rate: float | None) -> str:
    return "-" if rate is None else to_ascii(share_text(rate))


def _n_of_n(run: RunPreview) -> str:
    return f"{run.counts.scored:,} of {run.expected:,}"


def _json(described: dict[str, Any]) -> str:
    return json.dumps(described, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)


_ACTIONS: Final = {"show": _overview, "preview": _preview, "set": _set, "relabel": _relabel}
