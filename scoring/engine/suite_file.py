"""Suites kept as files beside a project's code: what importing one would do, and doing it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NamedTuple

from django.db import transaction

from scoring.core.bound import bind, settled
from scoring.core.config import as_mapping
from scoring.core.config_changes import Change, changes, spelled_out
from scoring.core.contract import ConfigError, Json
from scoring.core.services import Available
from scoring.core.suite_text import MAX_CHARS, Described, SuiteText, read_suite, spelling_of
from scoring.models import Connection, Scorer, Suite, SuiteEntry, Team, User

#: What becomes of a scorer of the file: made; used as it is; given a new version; or nothing can,
#: for the team has a scorer of that name and of another type.
State = Literal["new", "same", "revised", "clash"]
_MOST_BYTES: Final = 4 * MAX_CHARS


class Line(NamedTuple):
    """One scorer of the file, and the team's scorer of that name; None where there is none."""

    described: Described
    state: State
    scorer: Scorer | None
    changes: Sequence[Change] = ()  # of the config, where it gets a new version

    @property
    def threshold(self) -> float:
        """The one it would have in a new suite."""
        given, known = self.described.threshold, self.scorer
        if given is None:
            kind = bind(self.described.type, self.described.config)
            return known.threshold if known else kind.threshold
        return given


class ThresholdStep(NamedTuple):
    """An entry of the suite whose threshold would change."""

    entry: SuiteEntry
    new: float


@dataclass(frozen=True)
class Plan:
    """What importing a suite would do to a team. Nothing is changed by looking at it."""

    team: Team
    described: SuiteText
    reason: str = ""  # stands at the thresholds it changes, unless another one is given

    def __str__(self) -> str:
        return self.described.name

    @cached_property
    def suite(self) -> Suite | None:
        """The team's suite of that name."""
        found = self.team.suites.filter(name=self.described.name)
        return found.prefetch_related("entries__scorer").first()

    @cached_property
    def lines(self) -> list[Line]:
        names = [each.name for each in self.described.scorers]
        known = self.team.scorers.filter(name__in=names).select_related("current", "team")
        by_name = {scorer.name: scorer for scorer in known}
        return [self._line(each, by_name.get(each.name)) for each in self.described.scorers]

    def _line(self, described: Described, scorer: Scorer | None) -> Line:
        if scorer is None:
            return Line(described, "new", None)
        if scorer.type != described.type:
            return Line(described, "clash", scorer)
        found = changes(
            spelled_out(scorer.type, scorer.current.config if scorer.current else {}),
            spelled_out(scorer.type, self._settled(described)),
        )
        return Line(described, "revised" if found else "same", scorer, found)

    def _settled(self, described: Described) -> Mapping[str, Json]:
        """Its config with what it leaves open chosen, as it would be saved."""
        ready = bind(described.type, described.config)
        if ready.needs_services:
            ready = settled(ready, self._available)
        return as_mapping(ready.config)

    @cached_property
    def _available(self) -> Available:
        return Connection.objects.available_to(self.team)

    @property
    def clashes(self) -> list[Line]:
        return [line for line in self.lines if line.state == "clash"]

    @cached_property
    def threshold_steps(self) -> list[ThresholdStep]:
        """The present entries that the file gives another threshold."""
        wanted = {
            line.scorer.pk: line.described.threshold
            for line in self.lines
            if line.scorer and line.described.threshold is not None
        }
        entries = self.suite.entries.all() if self.suite else ()
        steps = ((entry, wanted.get(entry.scorer_id)) for entry in entries)
        return [ThresholdStep(e, new) for e, new in steps if new not in (None, e.threshold)]

    @cached_property
    def leaving(self) -> list[Scorer]:
        """What is in the suite now and not in the file."""
        staying = {line.scorer.pk for line in self.lines if line.scorer}
        entries = self.suite.entries.all() if self.suite else ()
        return [entry.scorer for entry in entries if entry.scorer_id not in staying]

    @property
    def is_idle(self) -> bool:
        """Whether everything is as the file says already."""
        is_same = all(line.state == "same" for line in self.lines)
        return bool(self.suite and is_same and not self.threshold_steps and not self._is_reordered)

    @property
    def _is_reordered(self) -> bool:
        present = [entry.scorer_id for entry in self.suite.entries.all()] if self.suite else []
        return present != [line.scorer.pk if line.scorer else None for line in self.lines]

    @property
    def signature(self) -> str:
        """Differs where the import would do something else than it was shown to do."""
        parts = [
            repr(self.described),
            *(f"{line.state} {line.scorer and line.scorer.current_id}" for line in self.lines),
            f"{self.suite and (self.suite.pk, self.suite.revision)}",
        ]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()

    def carry_out(self, by: User | None, reason: str = "") -> Suite:
        """The suite as described, all of it or nothing; `reason` stands at changed thresholds.

        Raises ConfigError where a name means another type, IntegrityError where somebody else took
        a name meanwhile.
        """
        for place, line in enumerate(self.lines):
            if line.state == "clash" and line.scorer:
                text = f"{line.scorer} is a scorer of the type {line.scorer.type} already"
                raise ConfigError({f"scorers[{place}].name": [f"{text}; choose another name"]})
        with transaction.atomic():
            entries = [(self._made(line, by), line.described.threshold) for line in self.lines]
            if self.suite is None:
                return Suite.objects.define(self.team, self.described.name, entries, by)
            for entry, new in self.threshold_steps:
                entry.change_threshold(new, by=by, reason=reason or self.reason)
            if self._is_reordered:
                self.suite.replace_entries(entries, by=by)
            self.suite.refresh_from_db()
        return self.suite

    def rehearse(self) -> None:
        """Raises ConfigError where carrying it out would, and changes nothing."""
        with transaction.atomic():
            Plan(self.team, self.described, self.reason).carry_out(None)
            transaction.set_rollback(True)

    def _made(self, line: Line, by: User | None) -> Scorer:
        told = line.described
        if line.scorer is None:
            define = Scorer.objects.define
            return define(self.team, told.name, told.type, told.config, told.threshold, by)
        if line.state == "revised":
            line.scorer.revise(told.config, by=by)
        return line.scorer


def plan_from_file(team: Team, path: Path) -> Plan:
    """What the file would do to the team. Raises ConfigError for one that cannot be used."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as fault:
        raise ConfigError({"suite": [f"{path} cannot be read: {fault}"]}) from None
    spelling = spelling_of(path.name, text)
    described = read_suite(text, spelling=spelling, name=path.stem, where=str(path))
    plan = Plan(team, described, f"the suite file {path.name}")
    plan.rehearse()
    return plan


def suite_from_file(team: Team, path: Path, by: User | None = None) -> Suite:
    """The team's suite as the file describes it, made or brought up to date.

    A scorer whose config differs gets a new version. Raises ConfigError, and then nothing has
    changed.
    """
    return plan_from_file(team, path).carry_out(by)


def described_suite(suite: Suite) -> SuiteText:
    """A suite as a text holds it, with the present versions of its scorers."""
    entries = suite.entries.select_related("scorer__current")
    return SuiteText(
        suite.name,
        tuple(
            Described(
                entry.scorer.name,
                entry.scorer.type,
                entry.scorer.current.config if entry.scorer.current else {},
                entry.threshold,
            )
            for entry in entries
        ),
    )
