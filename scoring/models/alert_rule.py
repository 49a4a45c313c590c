"""Alert rules: what a team wants to be told of a dataset's runs, and how."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Collection
from datetime import timedelta
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from scoring.core.alert_limits import limit_problem
from scoring.core.judge.guard import RefusedError, check_url
from scoring.core.number_text import typed_share
from scoring.models.alert_watch import AlertWatch
from scoring.models.audit import AuditEntry
from scoring.models.base import AddressedRow
from scoring.models.dataset import Dataset
from scoring.models.run import Run, RunScorer
from scoring.models.sealed import SealError, seal, unseal
from scoring.models.team import Team, User

MOST_RULES: Final = 200  # of a team
MOST_EMAILS: Final = 20
MOST_HOURS: Final = 24 * 365


class AlertKind(models.TextChoices):
    MEAN_BELOW = "mean_below", "mean below"
    PASS_RATE_BELOW = "pass_rate_below", "pass rate below"
    DROP = "drop", "drop larger than chance"
    REGRESSIONS = "regressions", "more cases broken than"
    OUT_OF_LIMITS = "out_of_limits", "below the control limit"
    NO_DATA = "no_data", "no run for"


#: These look at one scorer's mean.
SCORER_KINDS: Final = (AlertKind.MEAN_BELOW, AlertKind.OUT_OF_LIMITS)


class RuleExistsError(ValidationError):
    """A rule that watches just the same is there already: `rule`."""

    def __init__(self, rule: AlertRule) -> None:
        super().__init__(f"The rule “{rule}” watches just this already: change that one.")
        self.rule = rule


class AlertRuleQuerySet(models.QuerySet["AlertRule"]):
    def define(self, team: Team, dataset: Dataset, *, by: User | None, **wanted: Any) -> Defined:
        """A new rule, and the secret its webhook's calls are signed with ("" without a webhook),
        which is shown once. The worker looks at its series soon.

        `wanted`: kind, and where they are not the defaults series, scorer, limit, renotify_hours,
        by_site, webhook_url, emails. Raises ValidationError by field, RuleExistsError.
        """
        rule = AlertRule(team=team, dataset=dataset, created_by=by)
        if dataset.team_id != team.pk:
            raise ValidationError({"dataset": "Choose a dataset of the team."})
        if self.filter(team=team).count() >= MOST_RULES:
            raise ValidationError(f"A team has at most {MOST_RULES} alert rules: delete one.")
        rule._set(wanted)
        secret = rule._new_secret() if rule.webhook_url else ""
        with transaction.atomic():
            rule.save()
            rule._watch()
            AuditEntry.objects.record(team, by, "alert_rule.created", rule, new=rule.described())
        return Defined(rule, secret)

    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """By dataset, with it joined and the attribute `open_count`: alerts not over yet."""
        is_open = Q(alerts__resolved_at=None, alerts__isnull=False)
        counted = self.annotate(open_count=models.Count("alerts", filter=is_open))
        return counted.select_related("dataset").order_by("dataset__name", "series", "pk")

    def active(self) -> Self:
        return self.filter(paused_at=None)

    def watching(self, run: Run) -> Self:
        """The active rules that a run of this dataset and series concerns."""
        outputs = run.output_set
        mine = self.active().filter(dataset=outputs.version.dataset_id)
        return mine.filter(series__in=("", outputs.series))

    def deleted(self) -> Self:
        """Those that can still be brought back; only `AlertRule.with_deleted` has them."""
        return self.filter(deleted_at__isnull=False)


_Rules = models.Manager.from_queryset(AlertRuleQuerySet)


class LivingRules(_Rules["AlertRule"]):
    """The one door to rules: those that nobody has deleted."""

    def get_queryset(self) -> models.QuerySet[AlertRule]:
        return super().get_queryset().filter(deleted_at=None)


class AlertRule(AddressedRow):
    """What is watched, and who is told how.

    Without `series` every series of the dataset is watched, each by itself; without `scorer` the
    cases' overall verdict. What `limit` counts belongs to the kind, see BOUNDS. `renotify_hours` is
    how often people are told again while an alert goes on, 0 for once. The secret that calls of the
    webhook are signed with is sealed to its URL: another URL gets another one.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="alert_rules")
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="alert_rules")
    series = models.CharField(max_length=120, blank=True, default="")
    scorer = models.CharField(max_length=120, blank=True, default="")
    kind = models.CharField(max_length=20, choices=AlertKind.choices)
    limit = models.FloatField(null=True, blank=True)
    renotify_hours = models.PositiveIntegerField(default=24)
    by_site = models.BooleanField("shown in the site", default=True)
    webhook_url = models.CharField("webhook URL", max_length=500, blank=True, default="")
    sealed_secret = models.TextField(blank=True, default="", editable=False)
    emails = models.JSONField("e-mail addresses", default=list, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = LivingRules()
    with_deleted = AlertRuleQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["dataset", "series"], name="rules_of_series")]
        constraints = [
            models.CheckConstraint(
                condition=Q(limit=None) | Q(limit__gte=0, limit__lte=1_000_000),
                name="alert_limit_is_finite",
            )
        ]

    def __str__(self) -> str:
        return f"{self.dataset.name}{self.series and f' · {self.series}'}: {self.condition}"

    @property
    def condition(self) -> str:
        """When it fires, in words: `mean of close below 0.8`; without a scorer, about cases."""
        of, by = (f" of {self.scorer}", f" by {self.scorer}") if self.scorer else ("", "")
        limit = f"{self.limit:g}" if self.limit is not None else ""
        share = typed_share(self.limit or 0)
        return {
            AlertKind.MEAN_BELOW: f"mean{of} below {limit}",
            AlertKind.PASS_RATE_BELOW: f"pass rate{of} below {share}",
            AlertKind.DROP: f"drop{of or ' of the pass rate'} larger than chance"
            f"{limit and f', at least {limit}'}",
            AlertKind.REGRESSIONS: f"more than {limit} cases broken{by}",
            AlertKind.OUT_OF_LIMITS: f"mean{of} below the control limit",
            AlertKind.NO_DATA: f"no run for {limit} day{'s' * (limit != '1')}",
        }[AlertKind(self.kind)]

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None

    @property
    def webhook_host(self) -> str:
        """What may be shown of the webhook to everybody: its path may be a secret itself."""
        return urlsplit(self.webhook_url).hostname or ""

    def described(self) -> dict[str, Any]:
        """What the audit keeps: neither the secret nor the webhook's path."""
        names = ("series", "scorer", "kind", "limit", "renotify_hours", "by_site", "emails")
        told = {name: getattr(self, name) for name in names}
        return {"dataset": self.dataset.name, **told, "webhook": self.webhook_host}

    def secret(self) -> str:
        """What the webhook's calls are signed with. Raises SealError."""
        return unseal(self.sealed_secret, self.webhook_url)

    @property
    def secret_opens(self) -> bool:
        """Whether the sealed secret, if there is a webhook, can still be read."""
        try:
            return not self.webhook_url or bool(self.secret())
        except SealError:
            return False

    def change(self, *, by: User | None, **wanted: Any) -> str:
        """Set what is named in `wanted` anew, see `define`; the rest stays.

        Alerts of series that are no longer watched end. The secret of a new webhook URL comes back,
        else "". Raises ValidationError by field, RuleExistsError.
        """
        old, old_url = self.described(), self.webhook_url
        self._set(wanted)
        secret = self._new_secret() if self.webhook_url not in ("", old_url) else ""
        with transaction.atomic():
            self.save()
            self._watch()
            self._time_telling()
            new = self.described() | ({"secret_replaced": True} if secret else {})
            if new != old or self.webhook_url != old_url:
                AuditEntry.objects.record(
                    self.team, by, "alert_rule.changed", self, old=old, new=new
                )
        return secret

    def replace_secret(self, *, by: User | None) -> str:
        """A new secret, which is shown once; the old one signs nothing any more."""
        if not self.webhook_url:
            raise ValidationError({"webhook_url": "The rule has no webhook."})
        secret = self._new_secret()
        with transaction.atomic():
            self.save(update_fields=["sealed_secret"])
            AuditEntry.objects.record(self.team, by, "alert_rule.secret_replaced", self)
        return secret

    def pause(self, *, by: User | None) -> None:
        """Look at nothing and tell nobody until the rule is resumed; open alerts stay open."""
        self._mark("paused_at", is_set=True, action="alert_rule.paused", by=by)

    def resume(self, *, by: User | None) -> None:
        self._mark("paused_at", is_set=False, action="alert_rule.resumed", by=by)

    def remove(self, *, by: User | None) -> None:
        """Hide the rule and its alerts until it is restored, or purged some days later."""
        self._mark("deleted_at", is_set=True, action="alert_rule.deleted", by=by)

    def restore(self, *, by: User | None) -> None:
        """Raises RuleExistsError where the same is watched by another rule by now."""
        self._refuse_twin()
        self._mark("deleted_at", is_set=False, action="alert_rule.restored", by=by)

    def _mark(self, field: str, *, is_set: bool, action: str, by: User | None) -> None:
        """Set or unset the mark and audit it, unless it is so already; look at what it missed."""
        when = timezone.now() if is_set else None
        with transaction.atomic():
            rows = AlertRule.with_deleted.filter(pk=self.pk, **{f"{field}__isnull": is_set})
            if rows.update(**{field: when}):
                AuditEntry.objects.record(self.team, by, action, self)
                self.watches.update(look_at=timezone.now())
        setattr(self, field, when)

    def _new_secret(self) -> str:
        """Written as the specification Standard Webhooks says."""
        secret = f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"
        self.sealed_secret = seal(secret, self.webhook_url)
        return secret

    def _set(self, wanted: dict[str, Any]) -> None:
        """Take over what is wanted. Where it raises ValidationError nothing is changed."""
        settled = AlertRule(team=self.team, dataset=self.dataset)
        for name in SETTINGS:
            setattr(settled, name, wanted.pop(name, getattr(self, name)))
        if wanted:
            raise TypeError(f"an alert rule has no {', '.join(wanted)}")
        settled._tidy()
        settled._check()
        if self._state.adding or settled.watched != self.watched:
            settled._refuse_twin()
        for name in SETTINGS:
            setattr(self, name, getattr(settled, name))
        if not self.webhook_url:
            self.sealed_secret = ""

    @property
    def watched(self) -> dict[str, Any]:
        """What makes the rule fire, however it tells: no two rules of a dataset have the same."""
        return {name: getattr(self, name) for name in WATCHED}

    def _refuse_twin(self) -> None:
        """A button pressed twice, or a program run twice, makes no second rule."""
        twins = AlertRule.objects.filter(dataset=self.dataset, **self.watched)
        if twin := twins.exclude(pk=self.pk).select_related("dataset").first():
            raise RuleExistsError(twin)

    def _tidy(self) -> None:
        self.series, self.scorer = self.series.strip(), self.scorer.strip()
        self.webhook_url = self.webhook_url.strip()
        self.emails = list(dict.fromkeys(each.strip().lower() for each in self.emails))

    def _check(self) -> None:
        problems = {
            "kind": "" if self.kind in AlertKind.values else "Choose one of the kinds.",
            "scorer": self._scorer_problem(),
            "limit": limit_problem(self.kind, self.limit),
            "renotify_hours": self._hours_problem(),
            "webhook_url": webhook_problem(self.webhook_url) if self.webhook_url else "",
            "emails": self._email_problem(),
            "by_site": "" if self._tells_somebody else "Choose at least one way to be told.",
        }
        if found := {field: [text] for field, text in problems.items() if text}:
            raise ValidationError(dict(found))
        self.clean_fields(exclude=["team", "dataset", "created_by", "uuid"])

    @property
    def _tells_somebody(self) -> bool:
        return bool(self.by_site or self.webhook_url or self.emails)

    def _scorer_problem(self) -> str:
        if self.kind == AlertKind.NO_DATA and self.scorer:
            return "This kind looks at runs as a whole: leave the scorer out."
        if self.kind in SCORER_KINDS and not self.scorer:
            return "This kind looks at one scorer's mean: choose the scorer."
        if self.scorer and self.scorer not in scorer_names(self.dataset):
            return f"No scorer is called {self.scorer}: choose one of the team's."
        return ""

    def _hours_problem(self) -> str:
        hours: Any = self.renotify_hours
        is_whole = isinstance(hours, int) and not isinstance(hours, bool)
        fits = is_whole and 0 <= hours <= MOST_HOURS
        return "" if fits else f"Give whole hours from 0 (never) to {MOST_HOURS:,}."

    def _email_problem(self) -> str:
        if len(self.emails) > MOST_EMAILS:
            return f"At most {MOST_EMAILS} addresses."
        members = members_among(self, self.emails)
        strangers = ", ".join(each for each in self.emails if each not in members)
        return f"Only members of the team are told, not {strangers}." if strangers else ""

    def _watch(self) -> None:
        """Watch exactly the series the rule names, or all there are, and look at them soon."""
        names = [self.series] if self.series else series_of(self.dataset) or [""]
        self.watches.exclude(series__in=names).delete()
        gone = self.alerts.filter(resolved_at=None).exclude(series__in=names)
        gone.update(resolved_at=timezone.now(), tell_at=None)
        AlertWatch.objects.look_at([self], names)

    def _time_telling(self) -> None:
        """Tell again of alerts that go on as often as the rule now says."""
        waiting = self.alerts.filter(
            state="firing", resolved_at=None, acknowledged_at=None, told_at__isnull=False
        )
        pause = timedelta(hours=self.renotify_hours)
        waiting.update(tell_at=F("told_at") + pause if pause else None)


class Defined(NamedTuple):
    """A new rule, and what its webhook's calls are signed with: told once."""

    rule: AlertRule
    secret: str


WATCHED: Final = ("series", "scorer", "kind", "limit")
#: What `define` and `change` may set.
SETTINGS: Final = (*WATCHED, "renotify_hours", "by_site", "webhook_url", "emails")


def series_of(dataset: Dataset) -> list[str]:
    """The names of the series with a run, in order."""
    runs = Run.objects.of_dataset(dataset).order_by("output_set__series")
    return list(runs.values_list("output_set__series", flat=True).distinct())


def scorer_names(dataset: Dataset) -> set[str]:
    """The team's scorers and those that have scored the dataset's runs."""
    return set(series_by_scorer(dataset))


def series_by_scorer(dataset: Dataset) -> dict[str, set[str]]:
    """The series of the dataset that each of `scorer_names` has scored; none for some."""
    used = RunScorer.objects.filter(run__output_set__version__dataset=dataset).order_by()
    names = dataset.team.scorers.values_list("name", flat=True)
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, series in used.values_list("name", "run__output_set__series").distinct():
        found.setdefault(name, set()).add(series)
    return found


def members_among(rule: AlertRule, emails: Collection[str]) -> set[str]:
    """Those of the addresses that are of present members of the rule's team."""
    people = User.objects.filter(memberships__team=rule.team_id, is_active=True)
    return set(people.filter(email__in=emails).values_list("email", flat=True))


def webhook_problem(url: str) -> str:
    """Why the URL may not be called; "" where it may. Asks no name server."""
    try:
        check_url(url, settings.EVALSITE_WEBHOOK_HOSTS, is_base=False)
    except RefusedError as refused:
        return refused.text
    return ""
