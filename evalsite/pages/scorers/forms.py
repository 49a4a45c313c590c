"""The form of a scorer: its fields come from its type's config, or it is all one JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from django import forms
from django.db import IntegrityError, models, transaction

from evalsite.pages.scorers.config_fields import ConfigForm, JsonTextField
from evalsite.pages.scorers.model_fields import ModelOptions
from evalsite.pages.scorers.tree_forms import Problem, Tree, fits_tree, types_at
from evalsite.pages.web.fields import NameField
from evalsite.pages.web.stale_forms import SEEN, ConcurrentEditForm
from scoring.core.config_diff import spell_out_defaults
from scoring.core.configured import configure_scorer
from scoring.core.contract import ConfigError
from scoring.core.registry import ScorerType
from scoring.models import AuditEntry, Scorer, Team, User
from scoring.models.locks import lock_row
from scoring.models.scorers.threshold_change import UNIT
from scoring.models.team.audit_entry import AuditQuerySet

JSON: Final = "config"  # the one field of a config that is edited as JSON
TO_JSON, TO_FIELDS = "json", "fields"  # orders to show the same config in the other way


def free_name(name: str, others: models.QuerySet[Any], own: models.Model | None) -> str:
    """The name, unless another of the team's rows has it."""
    taken = others.filter(name=name)
    if (taken.exclude(pk=own.pk) if own else taken).exists():
        raise forms.ValidationError(f"The team has one called {name} already.")
    return name


class ScorerForm(ConfigForm, ConcurrentEditForm):
    """Name, threshold and config of one scorer of one type.

    The config has a field for each setting and, in a combination, a tree of forms; or it is one
    JSON text, which is how it comes back when it was sent like that. `config` is what to begin
    with in place of the scorer's own.
    """

    name = NameField(max_length=120)
    threshold = forms.FloatField(
        label="Default threshold",
        min_value=0,
        max_value=1,
        validators=UNIT,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="A score of at least this passes. A suite may set its own.",
    )

    def __init__(
        self,
        *args: Any,
        team: Team,
        kind: ScorerType,
        scorer: Scorer | None = None,
        config: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.team, self.kind, self.scorer, self._needs_name = team, kind, scorer, True
        self.offer = cache(lambda: ModelOptions.for_team(team))
        super().__init__(*args, **kwargs)
        if scorer:  # its threshold changes with a reason, not in passing
            del self.fields["threshold"]
        saved = scorer.current.config if scorer and scorer.current else None
        self._draw(saved if config is None else config)

    def _draw(self, config: Mapping[str, Any] | None) -> None:
        parts = (config or {}).get("scorers", ())
        self.is_json = JSON in self.data if self.is_bound else not fits_tree(parts)
        self.tree: Tree | None = None
        if self.is_json:
            self._add_json(config)
            return
        self.add_settings(config)
        if self.kind.family == "combinator":
            if self.is_bound:
                self.tree = Tree.from_data(self.kind, self.offer, self.data)
            else:
                self.tree = Tree.from_config(self.kind, self.offer, parts)

    def _add_json(self, config: Mapping[str, Any] | None) -> None:
        field = JsonTextField(rows=18, required=False, label="Config", initial=config or {})
        field.help_text = "A JSON object of the settings; what is left out takes its default."
        self.fields[JSON] = field

    @property
    def types(self) -> list[ScorerType]:
        """What may be added to the combination itself."""
        return types_at(1)

    def redrawn(self, order: str) -> ScorerForm:
        """The form after an order of the tree, or in the other way of showing its config.

        Where that cannot be, it is this one with its errors.
        """
        if order == TO_JSON and not self.is_json:
            return self._as_json()
        if order == TO_FIELDS and self.is_json:
            return self._as_fields()
        if self.tree:
            typed = self.data.get(f"add-{order.partition(':')[2]}", "")
            self.tree.change(f"{order}:{typed}" if order.startswith("add:") else order)
            self.tree.forget_errors()
        self.forget_errors()
        return self

    def _as_json(self) -> ScorerForm:
        self.forgo_name()
        if self.is_refused:
            return self
        sent: Any = self.data
        sent = sent.copy()
        sent[JSON] = json.dumps(self.config(), ensure_ascii=False, indent=2)
        form = ScorerForm(sent, team=self.team, kind=self.kind, scorer=self.scorer)
        form.forget_errors()
        return form

    def _as_fields(self) -> ScorerForm:
        self.forgo_name()
        try:
            if not self.is_refused:
                config = self.config()
                configure_scorer(self.kind.name, config)
                start = {name: self.data.get(name, "") for name in ("name", "threshold", SEEN)}
                given: dict[str, Any] = {"team": self.team, "kind": self.kind, "initial": start}
                return ScorerForm(scorer=self.scorer, config=config, **given)
        except ConfigError as fault:
            self.show_errors(fault)
        return self

    def forgo_name(self) -> None:
        """Judge all but the name, which only a scorer that is saved needs."""
        self._needs_name = False
        self.errors.pop("name", None)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        others = Scorer.objects.filter(team=self.team)
        return free_name(name, others, self.scorer) if self._needs_name else name

    def clean_config(self) -> dict[str, Any]:
        """A pasted config; its own threshold must be the one that holds, which stands beside it."""
        given: Any = self.cleaned_data[JSON] or {}
        if not isinstance(given, dict):
            raise forms.ValidationError("A config is a JSON object.")
        own = given.pop("threshold", None)
        holds = self.scorer.threshold if self.scorer else self.cleaned_data.get("threshold")
        if own is not None and own != holds:
            text = f"It has the threshold {own}; the scorer's is {holds}. Make them one."
            raise forms.ValidationError(text)
        return given

    def is_valid(self) -> bool:
        own = super().is_valid()
        return (self.tree is None or self.tree.is_valid()) and own

    @property
    def is_refused(self) -> bool:
        """Whether anything in it cannot be used."""
        return self.is_bound and not self.is_valid()

    def problems(self) -> Iterator[Problem]:
        """What is wrong, in the order of the page."""
        for name, texts in self.errors.items():
            is_field = name in self.fields
            label, anchor = (str(self[name].label), self[name].auto_id) if is_field else ("", "")
            yield from (Problem(label, anchor, str(text)) for text in texts)
        yield from self.tree.problems() if self.tree else ()

    def config(self) -> dict[str, Any]:
        """The config as filled in; the saved one to the letter where it says the same."""
        config: dict[str, Any] = self.cleaned_data[JSON] if self.is_json else self.settings()
        if self.tree:
            config |= {"scorers": self.tree.scorers()}
        saved = self.scorer.current.config if self.scorer and self.scorer.current else None
        name = self.kind.name
        is_saved = saved is not None and spell_out_defaults(name, config) == spell_out_defaults(
            name, saved
        )
        return dict(saved) if saved is not None and is_saved else config

    def audited(self) -> AuditQuerySet:
        return AuditEntry.objects.about(*[self.scorer] if self.scorer else [])

    def effective_threshold(self) -> float:
        """The one to judge by: of a new scorer as filled in, else the scorer's own."""
        return self.scorer.threshold if self.scorer else float(self.cleaned_data["threshold"])

    def save(self, by: User) -> Scorer | None:
        """The scorer, new or with a new version; None where the config's errors, or what somebody
        else saved meanwhile, are now shown.
        """
        try:
            with transaction.atomic():
                if self.scorer:
                    lock_row(self.scorer, "name", "threshold", "current")
                return None if self.is_stale(by) else self._saved(by)
        except ConfigError as problem:
            self.show_errors(problem)
        except IntegrityError:
            self.add_error("name", "The team has just got a scorer of that name.")
        return None

    def show_errors(self, problem: ConfigError) -> None:
        """Add each error of the config to its field, or to the node of its part."""
        if self.is_json:
            for name, texts in problem.errors.items():
                self.add_error(JSON, [f"{name}: {text}" for text in texts])
        elif self.tree:
            inside = {k: v for k, v in problem.errors.items() if k.startswith("scorers")}
            self.tree.show_errors(inside)
            self.show_setting_errors({k: v for k, v in problem.errors.items() if k not in inside})
        else:
            self.show_setting_errors(problem.errors)

    def _saved(self, by: User) -> Scorer:
        name = self.cleaned_data["name"]
        if self.scorer is None:
            threshold = self.cleaned_data["threshold"]
            define = Scorer.objects.define
            return define(self.team, name, self.kind.name, self.config(), threshold, by)
        self.scorer.revise(self.config(), by=by)
        self.scorer.rename(name, by=by)
        return self.scorer
