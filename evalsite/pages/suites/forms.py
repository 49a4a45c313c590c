"""The forms of suites: scorers with their thresholds, and importing a suite from a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.db import IntegrityError, transaction

from evalsite.pages.scorers.forms import free_name
from evalsite.pages.web.fields import NameField, code_area
from evalsite.pages.web.stale_forms import ConcurrentEditForm
from scoring.core.contract import ConfigError
from scoring.core.json_text import to_text
from scoring.core.suites.suite_format import (
    MAX_CHARS,
    SuiteDocument,
    detect_suite_format,
    read_suite,
)
from scoring.engine.suites.suite_file import ImportPlan
from scoring.models import AuditEntry, Scorer, Suite, SuiteEntry, Team, User
from scoring.models.scorers.suite import UNUSED, Entry
from scoring.models.scorers.threshold_change import REASON_NEEDED
from scoring.models.team.audit_entry import AuditQuerySet

THRESHOLD: Final = "threshold-"  # before a scorer's id
RENAMED_BY: Final = "Only an administrator can rename a suite that runs or datasets use."


@dataclass(frozen=True)
class SuiteRow:
    """A scorer of the team and the field of its threshold, None if the user may not change it."""

    scorer: Scorer
    is_in: bool
    known: float | None  # its threshold in the suite, or the last one before it was removed
    threshold: forms.BoundField | None


class SuiteForm(ConcurrentEditForm):
    """A suite's name and its scorers, each with its threshold.

    Once a run or a dataset uses the suite, only who `may_administer` renames it and changes a
    threshold that it knows, with a reason.
    """

    name = NameField(max_length=120)
    scorers = forms.ModelMultipleChoiceField(Scorer.objects.none(), to_field_name="uuid")
    reason = forms.CharField(
        required=False,
        label="Reason for threshold changes",
        help_text="Required when a threshold changes; kept in the suite's history.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(
        self,
        *args: Any,
        team: Team,
        suite: Suite | None = None,
        may_administer: bool = False,
        **kwargs: Any,
    ) -> None:
        self.team, self.suite = team, suite
        super().__init__(*args, **kwargs)
        self._known = suite.known_thresholds() if suite else {}
        entries = suite.entries.select_related("scorer") if suite else ()
        self._entries: dict[int, SuiteEntry] = {entry.scorer_id: entry for entry in entries}
        scorers = Scorer.objects.filter(team=team)
        self.fields["scorers"].queryset = scorers  # type: ignore[attr-defined]
        self._scorers = list(scorers.order_by("name"))
        self.is_used = suite is not None and suite.is_used
        self.is_restricted = self.is_used and not may_administer
        for scorer in self._scorers:
            if not (self.is_restricted and scorer.pk in self._known):
                self.fields[f"{THRESHOLD}{scorer.uuid}"] = self._threshold_field(scorer)
        if self.is_restricted or not self.is_used:
            del self.fields["reason"]
        if self.is_restricted:
            self.fields["name"].disabled = True
            self.fields["name"].help_text = RENAMED_BY

    def _threshold_field(self, scorer: Scorer) -> forms.FloatField:
        known = self._known.get(scorer.pk)
        default = to_text(scorer.threshold if known is None else known)
        attrs = {"step": "any", "placeholder": default, "class": "short"}
        attrs["aria-label"] = f"Threshold of {scorer.name}"
        return forms.FloatField(
            required=False,
            min_value=0,
            max_value=1,
            label=f"Threshold of {scorer.name}",
            initial=None if known is None else to_text(known),
            widget=forms.NumberInput(attrs=attrs),
        )

    def rows(self) -> Iterator[SuiteRow]:
        """The team's scorers, those of the suite first."""
        chosen = {str(value) for value in self["scorers"].value() or ()}
        first = {str(value) for value in self.initial.get("scorers", ())}
        for scorer in sorted(self._scorers, key=lambda s: str(s.uuid) not in first):
            name = f"{THRESHOLD}{scorer.uuid}"
            field = self[name] if name in self.fields else None
            yield SuiteRow(scorer, str(scorer.uuid) in chosen, self._known.get(scorer.pk), field)

    def audited(self) -> AuditQuerySet:
        return AuditEntry.objects.about(
            *self._entries.values(), *[self.suite] if self.suite else []
        )

    def clean_name(self) -> str:
        others = Suite.objects.filter(team=self.team)
        return free_name(self.cleaned_data["name"], others, self.suite)

    def clean(self) -> dict[str, Any]:
        steps = self.suite.threshold_steps(self._chosen()) if self.suite else []
        if steps and not self.cleaned_data.get("reason", UNUSED).strip():
            self.add_error("reason", REASON_NEEDED)
        return self.cleaned_data

    def _chosen(self) -> list[Entry]:
        """The scorers in the suite's order, new ones last; None is the known or default one."""
        positions = {pk: position for position, pk in enumerate(self._entries)}
        scorers = self.cleaned_data.get("scorers") or ()
        ordered = sorted(scorers, key=lambda s: (positions.get(s.pk, len(positions)), s.name))
        return [(s, self.cleaned_data.get(f"{THRESHOLD}{s.uuid}")) for s in ordered]

    def save(self, by: User) -> Suite | None:
        """Save the suite, new or changed.

        None, with an error of the form, if somebody else has just taken the name, changed the suite
        since the form was opened, or begun to use it.
        """
        try:
            with transaction.atomic():
                if self.suite:
                    self.suite.lock()
                return None if self.is_stale(by) else self._save(by)
        except IntegrityError:
            self.add_error("name", "The team has just got a suite of that name.")
        except forms.ValidationError as error:
            self.add_error(None, error.messages)
        return None

    def _save(self, by: User) -> Suite:
        name, entries = self.cleaned_data["name"], self._chosen()
        if self.suite is None:
            return Suite.objects.define(self.team, name, entries, by)
        self.suite.rename(name, by=by)
        self.suite.replace_entries(entries, by=by, reason=self.cleaned_data.get("reason", ""))
        return self.suite


def copied_values(suite: Suite) -> dict[str, Any]:
    """What the form of a new suite begins with when it copies this one."""
    entries = list(suite.entries.select_related("scorer"))
    thresholds = {f"{THRESHOLD}{e.scorer.uuid}": to_text(e.threshold) for e in entries}
    name = f"Copy of {suite.name}"[:120]
    return {"name": name, "scorers": [e.scorer.uuid for e in entries], **thresholds}


class SuiteImportForm(forms.Form):
    """A suite as a file or text; a text may come with other names for what it holds."""

    file = forms.FileField(required=False, help_text="JSON or YAML.")
    text = forms.CharField(
        required=False,
        strip=False,
        max_length=MAX_CHARS,
        label="Or its text",
        widget=code_area(12),
    )
    name = NameField(required=False, max_length=120, label="Name of the suite")
    file_name = forms.CharField(required=False, max_length=255, widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False,
        label="Reason for threshold changes",
        help_text="Kept in the suite's history.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        self.team = team
        super().__init__(*args, **kwargs)

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file and file.size > 4 * MAX_CHARS:
            raise forms.ValidationError(f"A suite's file has at most {MAX_CHARS:,} characters.")
        return file

    def clean(self) -> dict[str, Any]:
        try:
            self.cleaned_data["suite"] = self._read() if not self.errors else None
        except UnicodeDecodeError:
            self.add_error("file", "The file is not UTF-8 text.")
        except ConfigError as error:
            for name, texts in error.errors.items():
                prefix = "" if name == "suite" else f"{name}: "
                self.add_error(None, [f"{prefix}{text}" for text in texts])
        return self.cleaned_data

    def _read(self) -> SuiteDocument:
        """A new file takes precedence over the text and the names of an earlier one."""
        file, text, file_name = self.cleaned_data["file"], self.cleaned_data["text"], ""
        if file:
            file_name, text = file.name, file.read().decode("utf-8-sig")
        if not text.strip():
            raise ConfigError({"suite": ["Choose a file, or paste its text."]})
        self.source = text
        stem = file_name.rpartition(".")[0]
        spelling = detect_suite_format(file_name.lower(), text)
        suite = read_suite(text, spelling=spelling, name=stem, where="The suite")
        if file:
            return suite.renamed("", {})
        names = {i: self.data.get(f"name-{i}", "").strip() for i in range(len(suite.scorers))}
        return suite.renamed(self.cleaned_data["name"], names)

    @property
    def plan(self) -> ImportPlan | None:
        """What importing would do; None unless the form is valid."""
        suite = self.cleaned_data.get("suite") if self.is_bound and self.is_valid() else None
        if suite is None:
            return None
        file = self.cleaned_data["file"]
        return ImportPlan(self.team, suite, file.name if file else self.cleaned_data["file_name"])
