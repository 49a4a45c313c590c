"""The form of an alert rule: each kind asks for its limit in a unit of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField, BoundWidget

from scoring.core.alert_limits import limit_problem
from scoring.core.judge.guard import RefusedError, check_url
from scoring.engine.alerts import mail_is_set_up
from scoring.models import AlertKind, AlertRule, Dataset, Member, Team, User
from scoring.models.alert_rule import (
    MOST_HOURS,
    SETTINGS,
    RuleExistsError,
    series_by_scorer,
    series_of,
)

EVERY_SERIES: Final = "every series, each by itself"
ALL_SCORERS: Final = "all scorers: the cases' verdicts"
NO_MAIL: Final = "None is sent yet: whoever runs this site sets `EVALSITE_MAIL_HOST` first."
PER_CENT: Final = 100
MONO: Final = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}
NUMBER: Final = MONO | {"class": "mono short", "inputmode": "decimal"}
_NUMBER: Final = re.compile(r"\d+(\.\d+)?|\.\d+", re.ASCII)


Choice = tuple[str, str]


class Unit(NamedTuple):
    """How a kind's limit is typed: the rule's, times `scale`."""

    label: str
    initial: str = ""
    help_text: str = ""
    scale: int = 1


UNITS: Final[Mapping[str, Unit]] = {
    AlertKind.DROP: Unit(
        "At least this much",
        help_text="A difference of means, such as 0.05. Left empty, every such drop counts.",
    ),
    AlertKind.MEAN_BELOW: Unit("Mean, from 0 to 1", "0.8"),
    AlertKind.PASS_RATE_BELOW: Unit("Pass rate, in %", "90", scale=PER_CENT),
    AlertKind.REGRESSIONS: Unit("Cases", "0", "0 fires at the first one."),
    AlertKind.NO_DATA: Unit("Days", "8"),
}
#: Every kind, the one that needs no number first: its words, and what they mean.
KINDS: Final[Mapping[str, tuple[str, str]]] = {
    AlertKind.DROP: (
        "A drop is larger than chance",
        "Against the pinned baseline, else the run before.",
    ),
    AlertKind.MEAN_BELOW: ("The mean is too low", "Of one scorer's scores in a run."),
    AlertKind.PASS_RATE_BELOW: ("Too few cases pass", "As a share of a run's cases."),
    AlertKind.REGRESSIONS: (
        "More cases broke than",
        "They passed in the baseline and fail now.",
    ),
    AlertKind.OUT_OF_LIMITS: (
        "The mean is unusual for the series",
        "Below the control limit of its own runs; silent under 8 of them.",
    ),
    AlertKind.NO_DATA: ("No run has come", "None of the series has finished for some days."),
}


class KindChoice(NamedTuple):
    """A kind as the form shows it, with the field of its limit if it has one."""

    radio: BoundWidget
    label: str
    says: str
    limit: BoundField | None


class DatasetChoice(forms.Form):
    """The dataset that a new rule watches; the address names it."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(), required=False, to_field_name="uuid", empty_label=None
    )

    def __init__(self, query: Any, *, team: Team) -> None:
        super().__init__(query)
        datasets = team.datasets.published().order_by("name")
        self.fields["dataset"].queryset = datasets  # type: ignore[attr-defined]

    @property
    def chosen(self) -> Dataset | None:
        """The one named, else the first by name; None where there is none."""
        if not self.is_valid():
            return None
        datasets = self.fields["dataset"].queryset  # type: ignore[attr-defined]
        found: Dataset | None = self.cleaned_data["dataset"] or datasets.first()
        return found


class AlertRuleForm(forms.Form):
    """A rule, new or changed. What a person is not asked for, since their kind has no such field,
    is neither read nor refused.

    `asked` may name series, scorer and kind to begin with. `host_to_list` is the entry of
    EVALSITE_WEBHOOK_HOSTS that would let a refused webhook through, `twin` a rule of the same.
    """

    use_required_attribute = False

    series = forms.ChoiceField(required=False)
    scorer = forms.ChoiceField(required=False)
    kind = forms.ChoiceField(
        choices=AlertKind.choices, initial=AlertKind.DROP, widget=forms.RadioSelect
    )
    by_site = forms.BooleanField(
        label="On this site",
        required=False,
        initial=True,
        help_text="A notice on every page, and a line on home.",
    )
    emails = forms.MultipleChoiceField(
        label="By e-mail", required=False, widget=forms.CheckboxSelectMultiple
    )
    webhook_url = forms.CharField(
        label="Webhook URL",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs=MONO | {"inputmode": "url"}),
        help_text="Each alert is posted there as JSON, signed with a secret that is shown once.",
    )
    renotify_hours = forms.IntegerField(
        label="Say it again after, in hours",
        initial=24,
        min_value=0,
        max_value=MOST_HOURS,
        widget=forms.TextInput(attrs=NUMBER),
        help_text="While it fires and nobody has acknowledged it. 0 says it once.",
    )

    def __init__(
        self,
        data: Any = None,
        *,
        dataset: Dataset,
        rule: AlertRule | None = None,
        asked: Mapping[str, str] | None = None,
    ) -> None:
        self.dataset, self.rule, self.host_to_list = dataset, rule, ""
        self.twin: AlertRule | None = None
        super().__init__(data, initial=_values(rule) if rule else _asked(asked or {}))
        self._offer("series", EVERY_SERIES, _with(series_of(dataset), rule.series if rule else ""))
        seen = series_by_scorer(dataset)
        names = _with(sorted(seen), rule.scorer if rule else "")
        self._offer("scorer", ALL_SCORERS, _grouped(names, seen, self["series"].value()))
        self._offer_members(rule)
        for kind, unit in UNITS.items():
            self.fields[f"limit_{kind}"] = _limit_field(unit)

    @property
    def kinds(self) -> list[KindChoice]:
        radios = {radio.data["value"]: radio for radio in self["kind"]}
        return [
            KindChoice(radios[kind], *said, self[f"limit_{kind}"] if kind in UNITS else None)
            for kind, said in KINDS.items()
        ]

    @property
    def has_listed_hosts(self) -> bool:
        return bool(settings.EVALSITE_WEBHOOK_HOSTS)

    def clean_webhook_url(self) -> str:
        url: str = self.cleaned_data["webhook_url"]
        try:
            if url:
                check_url(url, settings.EVALSITE_WEBHOOK_HOSTS, is_base=False)
        except RefusedError as refused:
            self.host_to_list = refused.allow
            raise forms.ValidationError(refused.text) from None
        return url

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        kind = given.get("kind", "")
        if kind == AlertKind.NO_DATA:
            given["scorer"] = ""
        given["limit"] = (
            self._limit(kind, given.get(f"limit_{kind}", "")) if kind in UNITS else None
        )
        return given

    def save(self, by: User) -> tuple[AlertRule, str] | None:
        """The rule, and its webhook's secret where that is new; None where the rule could not be
        saved, for a reason that is now shown.
        """
        wanted = {name: self.cleaned_data[name] for name in SETTINGS}
        try:
            if self.rule:
                return self.rule, self.rule.change(by=by, **wanted)
            return AlertRule.objects.define(self.dataset.team, self.dataset, by=by, **wanted)
        except RuleExistsError as refused:
            self.twin = refused.rule
            self.add_error(None, refused)
        except ValidationError as refused:
            self._refuse(refused)
        return None

    def _refuse(self, refused: ValidationError) -> None:
        """Beside the fields; what belongs to none of them above the form."""
        by_field = refused.message_dict if hasattr(refused, "error_dict") else {}
        for name, texts in (by_field or {"": refused.messages}).items():
            field = f"limit_{self.cleaned_data['kind']}" if name == "limit" else name
            self.add_error(field if field in self.fields else None, texts)

    def _limit(self, kind: str, text: str) -> float | None:
        """In the rule's unit; None where nothing was typed, or nothing that is a number."""
        text = text.strip().removesuffix("%").strip()
        if text and not _NUMBER.fullmatch(text):
            self.add_error(f"limit_{kind}", "This is not a number: write one such as 0.8 or 12.")
        elif kind == AlertKind.PASS_RATE_BELOW and text and not 1 <= Decimal(text) <= PER_CENT:
            self.add_error(f"limit_{kind}", "Give a share from 1 to 100 %, such as 90.")
        else:
            limit = float(Decimal(text) / UNITS[kind].scale) if text else None
            if problem := limit_problem(kind, limit):
                self.add_error(f"limit_{kind}", problem)
            return limit
        return None

    def _offer(self, name: str, nothing: str, choices: Iterable[Any]) -> None:
        field: Any = self.fields[name]
        field.choices = [("", nothing), *choices]

    def _offer_members(self, rule: AlertRule | None) -> None:
        """The team's members, and whoever a rule tells although they have left."""
        members = Member.objects.filter(team=self.dataset.team, user__is_active=True)
        people = members.select_related("user").order_by("user__email")
        labels = {each.user.email: _person(each.user) for each in people}
        gone = {each: f"{each}, who has left" for each in (rule.emails if rule else ())}
        field: Any = self.fields["emails"]
        field.choices = list((gone | labels).items())
        field.help_text = "" if mail_is_set_up() else NO_MAIL


def _with(known: Iterable[str], mine: str) -> list[Choice]:
    """Those there are and, of a rule, its own."""
    return [(text, text) for text in dict.fromkeys([*known, mine]) if text]


def _grouped(
    choices: Sequence[Choice], seen: Mapping[str, set[str]], series: str
) -> list[tuple[str, list[Choice]]]:
    """The scorers that the watched series knows first: a rule on another waits for its runs."""
    groups: dict[str, list[Choice]] = {
        f"Have scored the series {series}": [],
        f"Have scored {'other series of it' if series else 'this dataset'}": [],
        "Have never scored this dataset": [],
    }
    here, elsewhere, never = groups.values()
    for choice in choices:
        found = seen.get(choice[0], set())
        (here if series in found else elsewhere if found else never).append(choice)
    return [(label, group) for label, group in groups.items() if group]


def _limit_field(unit: Unit) -> forms.CharField:
    """A text, since only the chosen kind's has to be a number."""
    return forms.CharField(
        label=unit.label,
        required=False,
        max_length=40,
        initial=unit.initial,
        help_text=unit.help_text,
        widget=forms.TextInput(attrs=NUMBER),
    )


def _values(rule: AlertRule) -> dict[str, Any]:
    values = {name: getattr(rule, name) for name in SETTINGS if name != "limit"}
    if rule.kind in UNITS:
        scaled = None if rule.limit is None else rule.limit * UNITS[rule.kind].scale
        values[f"limit_{rule.kind}"] = "" if scaled is None else f"{scaled:.10g}"
    return values


def _asked(query: Mapping[str, str]) -> dict[str, str]:
    """What the address asks to begin with."""
    return {name: query[name] for name in ("series", "scorer", "kind") if query.get(name)}


def _person(user: User) -> str:
    return f"{user.name}, {user.email}" if user.name else user.email
