"""Suites as files in a project's repository: the plan of an import, and carrying it out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from scoring.core.config import config_mapping
from scoring.core.config_diff import SettingChange, find_changes, spell_out_defaults
from scoring.core.configured import configure_scorer, resolve_defaults
from scoring.core.contract import ConfigError, Json
from scoring.core.json_text import to_text
from scoring.core.services import AvailableServices
from scoring.core.suites.suite_format import (
    MAX_CHARS,
    DescribedScorer,
    SuiteDocument,
    detect_suite_format,
    read_suite,
    write_suite,
)
from scoring.models import Connection, Scorer, Suite, SuiteEntry, SuiteProposal, Team, User
from scoring.models.scorers.suite import ThresholdStep

#: A scorer of the file is created, used unchanged, given a new version, or clashes: the team has a
#: scorer of that name and of another type.
State = Literal["new", "same", "revised", "clash"]
_MAX_BYTES: Final = 4 * MAX_CHARS


class PlannedEntry(NamedTuple):
    """One scorer of the file, and the team's scorer of that name; None where there is none."""

    described: DescribedScorer
    state: State
    scorer: Scorer | None
    changes: Sequence[SettingChange] = ()  # of the config, where it gets a new version
    known: float | None = None  # the threshold that the suite knows for it

    @property
    def threshold(self) -> float:
        """The file's, else the suite's own or last one, else the scorer's or its type's default."""
        described = self.described
        if described.threshold is not None:
            return described.threshold
        if self.known is not None:
            return self.known
        if self.scorer:
            return self.scorer.threshold
        return configure_scorer(described.type, described.config).threshold


class SuiteOfRun(NamedTuple):
    """A suite to score a run by; `scorers`, where there are any, in place of its entries."""

    suite: Suite
    scorers: Sequence[tuple[Scorer, float]] = ()
    thresholds_note: str = ""


@dataclass(frozen=True)
class ImportPlan:
    """What importing a suite would do to a team; making a plan changes nothing."""

    team: Team
    described: SuiteDocument
    source_name: str = ""  # of the file

    def __str__(self) -> str:
        return self.described.name

    @cached_property
    def suite(self) -> Suite | None:
        """The team's suite of that name."""
        suites = self.team.suites.filter(name=self.described.name)
        return suites.prefetch_related("entries__scorer").first()

    @property
    def _entries(self) -> Iterable[SuiteEntry]:
        return self.suite.entries.all() if self.suite else ()

    @cached_property
    def _known(self) -> dict[int, float]:
        return self.suite.known_thresholds() if self.suite else {}

    @cached_property
    def lines(self) -> list[PlannedEntry]:
        scorers = self.described.scorers
        known = self.team.scorers.filter(name__in=[scorer.name for scorer in scorers])
        by_name = {scorer.name: scorer for scorer in known.select_related("current", "team")}
        return [self._line(scorer, by_name.get(scorer.name)) for scorer in scorers]

    def _line(self, described: DescribedScorer, scorer: Scorer | None) -> PlannedEntry:
        if scorer is None:
            return PlannedEntry(described, "new", None)
        if scorer.type != described.type:
            return PlannedEntry(described, "clash", scorer)
        known = self._known.get(scorer.pk)
        changes = find_changes(
            spell_out_defaults(scorer.type, scorer.current.config if scorer.current else {}),
            spell_out_defaults(scorer.type, self._resolved_config(described)),
        )
        return PlannedEntry(described, "revised" if changes else "same", scorer, changes, known)

    def _resolved_config(self, described: DescribedScorer) -> Mapping[str, Json]:
        """Its config with defaults resolved, as it would be saved."""
        ready = configure_scorer(described.type, described.config)
        if ready.needs_services:
            ready = resolve_defaults(ready, self._available)
        return config_mapping(ready.config)

    @cached_property
    def _available(self) -> AvailableServices:
        return Connection.objects.available_to(self.team)

    @property
    def clashes(self) -> list[PlannedEntry]:
        return [line for line in self.lines if line.state == "clash"]

    @cached_property
    def threshold_steps(self) -> list[ThresholdStep]:
        """The scorers that the suite knows, and that the file gives another threshold."""
        lines = [(line.scorer, line.described.threshold) for line in self.lines if line.scorer]
        return self.suite.threshold_steps(lines) if self.suite else []

    @cached_property
    def needs_reason(self) -> bool:
        """Whether it changes thresholds of a suite that is used: an administrator's act."""
        return bool(self.threshold_steps and self.suite and self.suite.is_used)

    @cached_property
    def leaving(self) -> list[Scorer]:
        """The scorers of the present suite that the file lacks."""
        remaining = {line.scorer.pk for line in self.lines if line.scorer}
        return [entry.scorer for entry in self._entries if entry.scorer_id not in remaining]

    @cached_property
    def joining(self) -> list[str]:
        """The names of the scorers that the present suite lacks."""
        present = {entry.scorer_id for entry in self._entries}
        lines = (line for line in self.lines if not line.scorer or line.scorer.pk not in present)
        return [line.described.name for line in lines]

    @property
    def revised(self) -> list[str]:
        """The names of the scorers that get a new version."""
        return [line.described.name for line in self.lines if line.state == "revised"]

    @property
    def is_idle(self) -> bool:
        """Whether the import would change nothing."""
        is_same = all(line.state == "same" for line in self.lines)
        return bool(self.suite and is_same and not self.threshold_steps and not self._is_reordered)

    @property
    def _is_reordered(self) -> bool:
        present = [entry.scorer_id for entry in self._entries]
        return present != [line.scorer.pk if line.scorer else None for line in self.lines]

    @property
    def signature(self) -> str:
        """A hash that changes when the import would do something else than was shown."""
        parts = [
            repr(self.described),
            *(f"{line.state} {line.scorer and line.scorer.current_id}" for line in self.lines),
            f"{self.suite and (self.suite.pk, self.suite.revision)}",
        ]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()

    def carry_out(self, by: User | None, reason: str = "") -> Suite:
        """The suite as described, all of it or nothing; `reason` is that of changed thresholds.

        Where none was needed when the plan was made, a suite that has come into use since then
        keeps its thresholds.
        Raises ConfigError where a name means another type, ValidationError where a reason is needed
        and missing, IntegrityError where somebody else took a name meanwhile.
        """
        self._refuse_clashes()
        with transaction.atomic():
            entries = [(self._save(line, by), line.described.threshold) for line in self.lines]
            if self.suite is None:
                return Suite.objects.define(self.team, self.described.name, entries, by)
            if not self.needs_reason:
                reason = self._reason_while_unused(reason)
            self.suite.replace_entries(entries, by=by, reason=reason)
        return self.suite

    def _reason_while_unused(self, reason: str) -> str:
        """Empty where the suite is used by now: the suite refuses other thresholds then."""
        assert self.suite is not None  # noqa: S101  one that is made anew has no thresholds yet
        self.suite.lock()
        by_file = f"the suite file {self.source_name}" if self.source_name else ""
        return "" if self.suite.is_used else reason or by_file

    def propose(self, by: User | None) -> SuiteProposal | None:
        """Leave the thresholds to an administrator; None where a command was refused before."""
        if self.suite is None:
            return None
        text = write_suite(self.described, "yaml")
        return SuiteProposal.objects.propose(self.suite, text, self.source_name, by)

    def prepare_run(self) -> SuiteOfRun:
        """What a run of this suite file is scored by, on behalf of the operator.

        The suite is brought up to date as by `carry_out`. Where that would change thresholds of a
        suite that is used, the suite stays as it is, the file is proposed, and the run has the
        scorers and thresholds of the file.
        """
        if self.suite is None or not self.needs_reason:
            try:
                return SuiteOfRun(self.carry_out(None))
            except ValidationError:  # the suite has come into use since the plan was made
                return ImportPlan(self.team, self.described, self.source_name).prepare_run()
        self._refuse_clashes()
        with transaction.atomic():
            scorers = [(self._save(line, None), line.threshold) for line in self.lines]
            self.propose(None)
        return SuiteOfRun(self.suite, scorers, self._thresholds_note)

    @property
    def _thresholds_note(self) -> str:
        """Such as "Thresholds of release.yaml: close 0.8 (suite: 0.9)"."""
        differing = (
            f"{step.scorer.name} {to_text(step.new)} (suite: {to_text(step.old)})"
            for step in self.threshold_steps
        )
        return f"Thresholds of {self.source_name or 'the file'}: {', '.join(differing)}"

    def _refuse_clashes(self) -> None:
        for index, line in enumerate(self.lines):
            if line.state == "clash" and line.scorer:
                text = f"{line.scorer} is a scorer of the type {line.scorer.type} already"
                raise ConfigError({f"scorers[{index}].name": [f"{text}; choose another name"]})

    def rehearse(self) -> None:
        """Raises ConfigError where a run of it would, and changes nothing."""
        with transaction.atomic():
            ImportPlan(self.team, self.described, self.source_name).prepare_run()
            transaction.set_rollback(True)

    def _save(self, line: PlannedEntry, by: User | None) -> Scorer:
        new = line.described
        if line.scorer is None:
            define = Scorer.objects.define
            return define(self.team, new.name, new.type, new.config, new.threshold, by)
        if line.state == "revised":
            line.scorer.revise(new.config, by=by)
        return line.scorer


def plan_import(team: Team, path: Path) -> ImportPlan:
    """What the file would do to the team. Raises ConfigError for one that cannot be used."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as fault:
        raise ConfigError({"suite": [f"{path} cannot be read: {fault}"]}) from None
    spelling = detect_suite_format(path.name, text)
    described = read_suite(text, spelling=spelling, name=path.stem, where=str(path))
    plan = ImportPlan(team, described, path.name)
    plan.rehearse()
    return plan


def describe_suite(suite: Suite) -> SuiteDocument:
    """A suite as a file holds it, with the present versions of its scorers."""
    described = []
    for entry in suite.entries.select_related("scorer__current"):
        scorer = entry.scorer
        config = scorer.current.config if scorer.current else {}
        described.append(DescribedScorer(scorer.name, scorer.type, config, entry.threshold))
    return SuiteDocument(suite.name, tuple(described))
