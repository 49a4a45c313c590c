"""The form of an alert rule: each kind asks for its limit in a unit of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField, BoundWidget

from evalsite.pages.web.fields import MONO, HostForm
from scoring.core.alert_limits import limit_problem, warning_problem
from scoring.engine.alerts import is_email_configured
from scoring.engine.alerts.past_runs import PastRuns, check_past_runs
from scoring.models import AlertKind, AlertRule, Dataset, Member, Team, User, WebhookFormat
from scoring.models.alerts.rule import (
    MAX_REMINDER_HOURS,
    SETTINGS,
    WATCHED,
    RuleExistsError,
    series_by_scorer,
    series_names,
)
from scoring.models.alerts.webhook import MAX_URL_CHARS

EVERY_SERIES: Final = "Each series separately"
ALL_SCORERS: Final = "all scorers: the cases' verdicts"
AGAIN: Final = "Type the URL again: nothing was saved, and no page shows what was typed here."
NO_MAIL: Final = "None is sent yet: whoever runs this site sets `EVALSITE_MAIL_HOST` first."
PER_CENT: Final = 100
NUMBER: Final = MONO | {"class": "mono short", "inputmode": "decimal"}
_NUMBER: Final = re.compile(r"\d+(\.\d+)?|\.\d+", re.ASCII)


class Unit(NamedTuple):
    """How a kind's limit is typed: the rule's limit, times `scale`."""

    label: str
    initial: str = ""
    help_text: str = ""
    scale: int = 1


UNITS: Final[Mapping[str, Unit]] = {
    AlertKind.DROP: Unit(
        "Minimum drop",
        help_text="A difference of means, such as 0.05. Left empty, every such drop counts.",
    ),
    AlertKind.MEAN_BELOW: Unit("Mean, from 0 to 1", "0.8"),
    AlertKind.PASS_RATE_BELOW: Unit("Pass rate, in %", "90", scale=PER_CENT),
    AlertKind.REGRESSIONS: Unit("Cases", "0", "0 fires at the first one."),
    AlertKind.NO_DATA: Unit("Days", "8"),
}
#: Label and help text of every kind, the default first.
KINDS: Final[Mapping[str, tuple[str, str]]] = {
    AlertKind.DROP: (
        "Statistically significant drop",
        "Against the pinned baseline, else the run before.",
    ),
    AlertKind.MEAN_BELOW: ("Mean below", "Of one scorer's scores in a run."),
    AlertKind.PASS_RATE_BELOW: ("Pass rate below", "As a share of a run's cases."),
    AlertKind.REGRESSIONS: (
        "Regressions above",
        "They passed in the baseline and fail now; waived ones do not count.",
    ),
    AlertKind.OUT_OF_LIMITS: (
        "Level decreased",
        "Of one scorer, as the drift page says it; 8 runs make the new level the usual one.",
    ),
    AlertKind.NO_DATA: ("No recent runs", "None of the series has finished for some days."),
}


class KindChoice(NamedTuple):
    """A kind as the form shows it, with the field of its limit if it has one."""

    radio: BoundWidget
    label: str
    help_text: str
    limit: BoundField | None
    warning: BoundField | None


class UnshownInput(forms.TextInput):
    """A text field whose value is never sent back, not even with an invalid form."""

    def format_value(self, value: Any) -> None:  # noqa: ARG002
        return None


class DatasetChoice(forms.Form):
    """The dataset that a new rule watches; the address names it."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(), required=False, to_field_name="uuid", empty_label=None
    )

    def __init__(self, query: Any, *, team: Team) -> None:
        super().__init__(query)
        datasets = team.datasets.listed().order_by("name")
        self.fields["dataset"].queryset = datasets  # type: ignore[attr-defined]

    @property
    def chosen(self) -> Dataset | None:
        """The dataset that the address names, else the first by name; None without any."""
        if not self.is_valid():
            return None
        named: Dataset | None = self.cleaned_data["dataset"]
        return named or self.fields["dataset"].queryset.first()  # type: ignore[attr-defined]


class AlertRuleForm(HostForm):
    """A rule, new or changed. The limits of other kinds than the chosen one are ignored.

    `query` may name the series, scorer and kind of a new rule. `duplicate` is the rule with the
    same settings, if that is why the form could not be saved.
    """

    hosts_setting = "EVALSITE_WEBHOOK_HOSTS"
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
        max_length=MAX_URL_CHARS,
        widget=UnshownInput(attrs=MONO | {"inputmode": "url"}),
        help_text="Each alert is posted there, signed with a secret that is shown once.",
    )
    webhook_format = forms.ChoiceField(
        label="Webhook format",
        choices=WebhookFormat.choices,
        initial=WebhookFormat.JSON,
        required=False,
        help_text="For a channel's URL of Slack or Teams, choose that one; JSON is for programs.",
    )
    remove_webhook = forms.BooleanField(label="Remove the webhook", required=False)
    renotify_hours = forms.IntegerField(
        label="Remind every (hours)",
        initial=24,
        min_value=0,
        max_value=MAX_REMINDER_HOURS,
        widget=forms.TextInput(attrs=NUMBER),
        help_text="While the alert is active and not acknowledged. 0 notifies once.",
    )

    def __init__(
        self,
        data: Any = None,
        *,
        dataset: Dataset,
        rule: AlertRule | None = None,
        query: Mapping[str, str] = {},
    ) -> None:
        self.dataset, self.rule = dataset, rule
        self.duplicate: AlertRule | None = None
        named = {name: query[name] for name in ("series", "scorer", "kind") if query.get(name)}
        super().__init__(data, initial=_initial_values(rule) if rule else named)
        series = _add_own(series_names(dataset), rule.series if rule else "")
        self._offer("series", EVERY_SERIES, [(name, name) for name in series])
        seen = series_by_scorer(dataset)
        scorers = _add_own(sorted(seen), rule.scorer if rule else "")
        groups = _group_scorers(scorers, seen, self["series"].value())
        self._offer("scorer", ALL_SCORERS, groups)
        self._offer_members(rule)
        self._offer_webhook(rule)
        for kind, unit in UNITS.items():
            self.fields[f"limit_{kind}"] = _limit_field(unit)
            self.fields[f"warning_{kind}"] = _warning_field()

    @property
    def kinds(self) -> list[KindChoice]:
        radios = {radio.data["value"]: radio for radio in self["kind"]}
        return [
            KindChoice(
                radios[kind], *texts, self._bound("limit", kind), self._bound("warning", kind)
            )
            for kind, texts in KINDS.items()
        ]

    def _bound(self, name: str, kind: str) -> BoundField | None:
        return self[f"{name}_{kind}"] if kind in UNITS else None

    def clean_webhook_url(self) -> str:
        url: str = self.cleaned_data["webhook_url"]
        if url:
            self.check_host(url, is_base=False)
        return url

    def clean_webhook_format(self) -> str:
        return self.cleaned_data["webhook_format"] or WebhookFormat.JSON

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        kind = cleaned.get("kind", "")
        if kind == AlertKind.NO_DATA:
            cleaned["scorer"] = ""
        has_limit = kind in UNITS
        limit = self._clean_limit(kind, f"limit_{kind}") if has_limit else None
        warning = self._clean_limit(kind, f"warning_{kind}") if has_limit else None
        if has_limit and not self.errors.keys() & {f"limit_{kind}", f"warning_{kind}"}:
            if problem := limit_problem(kind, limit):
                self.add_error(f"limit_{kind}", problem)
            elif problem := warning_problem(kind, limit, warning):
                self.add_error(f"warning_{kind}", problem)
        cleaned |= {"limit": limit, "warning_limit": warning}
        if self.errors:
            self.ask_for_url_again()
        return cleaned

    def save(self, by: User) -> tuple[AlertRule, str] | None:
        """Save the rule; return it and its webhook's secret, "" unless that is new.

        Return None, with the reason among the form's errors, if it cannot be saved.
        """
        values = {name: self.cleaned_data[name] for name in SETTINGS}
        if self.cleaned_data["webhook_url"] or self.cleaned_data.get("remove_webhook"):
            values["webhook_url"] = self.cleaned_data["webhook_url"]
        try:
            if self.rule:
                return self.rule, self.rule.change(by=by, **values)
            return AlertRule.objects.define(self.dataset.team, self.dataset, by=by, **values)
        except RuleExistsError as refused:
            self.duplicate = refused.rule
            self.add_error(None, refused)
        except ValidationError as refused:
            self._add_model_errors(refused)
        self.ask_for_url_again()
        return None

    @property
    def watch_problems(self) -> list[tuple[str, str]]:
        """Label and text of what is wrong with the condition; other fields do not count."""
        kind = self.cleaned_data.get("kind", "")
        names = (*WATCHED, f"limit_{kind}", f"warning_{kind}")
        wrong = [name for name in names if name in self.errors]
        return [(str(self[name].label), str(self.errors[name][0])) for name in wrong]

    def past_runs(self) -> PastRuns | None:
        """On which runs the rule would have fired; None, with the reason among the form's errors,
        if its condition is not complete.
        """
        values = {name: self.cleaned_data.get(name) for name in (*WATCHED, "warning_limit")}
        if not self.watch_problems:
            rule = AlertRule(team=self.dataset.team, dataset=self.dataset, **values)
            if not rule.scorer_problem:
                return check_past_runs(rule)
            self.add_error("scorer", rule.scorer_problem)
        return None

    def ask_for_url_again(self) -> None:
        """The page of a form that was not saved does not show the URL that was typed."""
        if self.cleaned_data.get("webhook_url"):
            self.add_error("webhook_url", AGAIN)

    def _add_model_errors(self, error: ValidationError) -> None:
        by_field = error.message_dict if hasattr(error, "error_dict") else {}
        for name, texts in (by_field or {"": error.messages}).items():
            kind = self.cleaned_data["kind"]
            own = {"limit": f"limit_{kind}", "warning_limit": f"warning_{kind}"}
            field = own.get(name, name)
            self.add_error(field if field in self.fields else None, texts)

    def _clean_limit(self, kind: str, name: str) -> float | None:
        """What was typed in a field, in the rule's unit; None if nothing usable was typed."""
        text = self.cleaned_data.get(name, "").strip().removesuffix("%").strip()
        if text and not _NUMBER.fullmatch(text):
            self.add_error(name, "This is not a number: write one such as 0.8 or 12.")
        elif kind == AlertKind.PASS_RATE_BELOW and text and not 1 <= Decimal(text) <= PER_CENT:
            self.add_error(name, "Give a share from 1 to 100 %, such as 90.")
        elif text:
            return float(Decimal(text) / UNITS[kind].scale)
        return None

    def _offer(self, name: str, empty_label: str, choices: Iterable[Any]) -> None:
        field: Any = self.fields[name]
        field.choices = [("", empty_label), *choices]

    def _offer_webhook(self, rule: AlertRule | None) -> None:
        """Offer to change or remove the rule's webhook, if it has one; its URL is not shown."""
        if rule and rule.has_webhook:
            text = f"Alerts are posted to {rule.webhook_shown}. Leave this empty to keep it."
            self.fields["webhook_url"].help_text = text
        else:
            del self.fields["remove_webhook"]

    def _offer_members(self, rule: AlertRule | None) -> None:
        """Offer the team's members, and former members whom the rule still notifies."""
        members = Member.objects.filter(team=self.dataset.team, user__is_active=True)
        people = members.select_related("user").order_by("user__email")
        users = [member.user for member in people]
        labels = {u.email: f"{u.name}, {u.email}" if u.name else u.email for u in users}
        former = {email: f"{email} (former member)" for email in (rule.emails if rule else ())}
        field: Any = self.fields["emails"]
        field.choices = list((former | labels).items())
        field.help_text = "" if is_email_configured() else NO_MAIL


def _add_own(names: Iterable[str], own: str) -> list[str]:
    """The names and the rule's own, each once, without an empty one."""
    return [name for name in dict.fromkeys([*names, own]) if name]


def _group_scorers(
    names: Sequence[str], seen: Mapping[str, set[str]], series: str
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Choices of scorers, those with runs in the watched series first."""
    groups: dict[str, list[tuple[str, str]]] = {
        f"Have scored the series {series}": [],
        f"Have scored {'other series of it' if series else 'this dataset'}": [],
        "Have never scored this dataset": [],
    }
    here, elsewhere, never = groups.values()
    for name in names:
        known = seen.get(name, set())
        (here if series in known else elsewhere if known else never).append((name, name))
    return [(label, group) for label, group in groups.items() if group]


def _limit_field(unit: Unit) -> forms.CharField:
    """A text field, since only the limit of the chosen kind must be a number."""
    return forms.CharField(
        label=unit.label,
        required=False,
        max_length=40,
        initial=unit.initial,
        help_text=unit.help_text,
        widget=forms.TextInput(attrs=NUMBER),
    )


def _warning_field() -> forms.CharField:
    """As the limit, to warn before it is reached."""
    return forms.CharField(
        label="Warning at",
        required=False,
        max_length=40,
        help_text="Told once, before the limit is reached.",
        widget=forms.TextInput(attrs=NUMBER),
    )


def _initial_values(rule: AlertRule) -> dict[str, Any]:
    limits = {"limit": rule.limit, "warning": rule.warning_limit}
    others = (name for name in SETTINGS if name not in ("limit", "warning_limit"))
    values = {name: getattr(rule, name) for name in others}
    if rule.kind in UNITS:
        for name, limit in limits.items():
            scaled = "" if limit is None else f"{limit * UNITS[rule.kind].scale:.10g}"
            values[f"{name}_{rule.kind}"] = scaled
    return values
