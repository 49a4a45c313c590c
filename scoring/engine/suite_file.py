"""Suites kept as JSON files beside a project's code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db import transaction

from scoring.core.contract import CaseProblem, ConfigError
from scoring.core.json_text import parse
from scoring.models import Scorer, Suite, Team, User

_KEYS = {"name", "type", "config", "threshold"}


def suite_from_file(team: Team, path: Path, by: User | None = None) -> Suite:
    """The team's suite as the file describes it, made or brought up to date.

    The file holds `{"name", "scorers": [{"name", "type", "config", "threshold"}]}`; a scorer whose
    config differs gets a new version. Raises ConfigError, and then nothing has changed.
    """
    name, described = _read(path)
    with transaction.atomic():
        entries = [_scorer(team, place, each, by) for place, each in enumerate(described)]
        suite = team.suites.filter(name=name).first()
        if suite is None:
            return Suite.objects.define(team, name, entries, by)
        _bring_up_to_date(suite, entries, by, f"the suite file {path.name}")
    return suite


def _bring_up_to_date(
    suite: Suite, entries: list[tuple[Scorer, float | None]], by: User | None, reason: str
) -> None:
    """Change only what differs; a threshold that the file leaves out stays as it is."""
    present = {entry.scorer_id: entry for entry in suite.entries.all()}
    for scorer, threshold in entries:
        entry = present.get(scorer.pk)
        if entry and threshold is not None and threshold != entry.threshold:
            entry.change_threshold(threshold, by=by, reason=reason)
    if list(present) != [scorer.pk for scorer, _ in entries]:
        suite.replace_entries(entries, by=by)
    suite.refresh_from_db()


def _read(path: Path) -> tuple[str, list[dict[str, Any]]]:
    try:
        content = parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, CaseProblem) as fault:
        raise ConfigError({"suite": [f"{path} cannot be read as JSON: {fault}"]}) from None
    scorers = content.get("scorers") if isinstance(content, dict) else None
    if not isinstance(scorers, list) or not scorers:
        raise ConfigError({"suite": [f'{path} needs a list "scorers" with at least one scorer']})
    if unknown := content.keys() - {"name", "scorers"}:
        raise ConfigError({name: ["is not known in a suite file"] for name in sorted(unknown)})
    return str(content.get("name") or path.stem)[:120], scorers


def _scorer(team: Team, place: int, described: Any, by: User | None) -> tuple[Scorer, float | None]:
    """The named scorer with this config, and the threshold the file gives it, if any."""
    field = f"scorers[{place}]"
    if not isinstance(described, dict) or "type" not in described or described.keys() - _KEYS:
        raise ConfigError({field: ['needs a "type", and may have a name, config and threshold']})
    kind, config = str(described["type"]), described.get("config", {})
    threshold = described.get("threshold")
    name = str(described.get("name") or kind)[:120]
    try:
        return _defined(team, name, kind, config, threshold, by), threshold
    except ConfigError as fault:
        texts = {f"{field}.{key}": found for key, found in fault.errors.items()}
        raise ConfigError(texts) from None


def _defined(
    team: Team, name: str, kind: str, config: Any, threshold: Any, by: User | None
) -> Scorer:
    from scoring.core.bound import bind

    scorer = team.scorers.filter(name=name).select_related("current").first()
    if scorer is None:
        return Scorer.objects.define(team, name, kind, config, threshold, by)
    if scorer.type != kind:
        text = f"{name} is a scorer of the type {scorer.type} already; choose another name"
        raise ConfigError({"name": [text]})
    bind(kind, config, threshold)  # refuses a threshold outside 0..1
    scorer.revise(config, by=by)
    return scorer
