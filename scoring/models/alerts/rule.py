"""Alert rules: the conditions on a dataset's runs that a team is notified of."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from datetime import timedelta
from typing import Any, Final, NamedTuple, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from scoring.core.alert_limits import limit_problem, warning_problem
from scoring.core.wording.numbers import plain_share
from scoring.models.alerts.webhook import WebhookRow, webhook_problem
from scoring.models.data.dataset import Dataset
from scoring.models.encryption import DecryptionError
from scoring.models.locks import lock_row
from scoring.models.runs.run import Run, RunScorer
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

MAX_RULES: Final = 200  # of a team
MAX_EMAILS: Final = 20
MAX_REMINDER_HOURS: Final = 24 * 365
WEBHOOK_UNREADABLE: Final = (
    "The webhook's URL can no longer be read, for the site's encryption key is another one now: "
    "type it again."
)


class AlertKind(models.TextChoices):
    MEAN_BELOW = "mean_below", "mean below"
    PASS_RATE_BELOW = "pass_rate_below", "pass rate below"
    DROP = "drop", "statistically significant drop"
    REGRESSIONS = "regressions", "more cases broken than"
    OUT_OF_LIMITS = "out_of_limits", "level decreased"
    NO_DATA = "no_data", "no run for"


#: These look at one scorer's mean.
SCORER_KINDS: Final = (AlertKind.MEAN_BELOW, AlertKind.OUT_OF_LIMITS)


class RuleExistsError(ValidationError):
    """A rule that watches just the same is there already: `rule`."""

    def __init__(self, rule: AlertRule) -> None:
        super().__init__(f"The rule “{rule}” watches just this already: change that one.")
        self.rule = rule


class AlertRuleQuerySet(models.QuerySet["AlertRule"]):
    def define(self, team: Team, dataset: Dataset, *, by: User | None, **wanted: Any) -> NewRule:
        """A new rule, and the secret its webhook's calls are signed with ("" without a webhook),
        which is shown once. The worker looks at its series soon.

        `wanted`: kind, and where they are not the defaults series, scorer, limit, warning_limit,
        renotify_hours, by_site, webhook_url, webhook_format, emails. Raises ValidationError by
        field and RuleExistsError.
        """
        rule = AlertRule(team=team, dataset=dataset, created_by=by)
        if dataset.team_id != team.pk:
            raise ValidationError({"dataset": "Choose a dataset of the team."})
        with transaction.atomic():
            Team.objects.lock(team)
            if self.filter(team=team).count() >= MAX_RULES:
                raise ValidationError(f"A team has at most {MAX_RULES} alert rules: delete one.")
            rule._set(wanted)
            secret = rule._new_secret() if rule.has_webhook else ""
            rule.save()
            rule._watch()
            AuditEntry.objects.record(team, by, "alert_rule.created", rule, new=rule.described())
        return NewRule(rule, secret)

    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """By dataset, with it joined and the attribute `open_count`: alerts not over yet."""
        is_open = Q(alerts__resolved_at=None, alerts__isnull=False)
        rules = self.annotate(open_count=models.Count("alerts", filter=is_open))
        return rules.select_related("dataset").order_by("dataset__name", "series", "pk")

    def active(self) -> Self:
        return self.filter(paused_at=None)

    def watching(self, run: Run) -> Self:
        """The active rules that a run of this dataset and series concerns."""
        outputs = run.output_set
        return self.active().filter(
            dataset=outputs.version.dataset_id, series__in=("", outputs.series)
        )

    def deleted(self) -> Self:
        """Those that can still be brought back; only `AlertRule.with_deleted` has them."""
        return self.filter(deleted_at__isnull=False, dataset__deleted_at=None)


_Rules = models.Manager.from_queryset(AlertRuleQuerySet)


class UndeletedRules(_Rules["AlertRule"]):
    """The one door to rules: those that nobody has deleted."""

    def get_queryset(self) -> models.QuerySet[AlertRule]:
        return super().get_queryset().filter(deleted_at=None)


class AlertRule(WebhookRow):
    """What is watched, and who is notified how.

    Without `series` every series of the dataset is watched, each by itself; without `scorer` the
    cases' overall verdict. What `limit` counts belongs to the kind, see BOUNDS; beyond
    `warning_limit`, which is reached first, the rule warns without firing. `renotify_hours` is how
    often people are notified again while an alert goes on, 0 for once.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="alert_rules")
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="alert_rules")
    series = models.CharField(max_length=120, blank=True, default="")
    scorer = models.CharField(max_length=120, blank=True, default="")
    kind = models.CharField(max_length=20, choices=AlertKind.choices)
    limit = models.FloatField(null=True, blank=True)
    warning_limit = models.FloatField(null=True, blank=True)
    renotify_hours = models.PositiveIntegerField(default=24)
    by_site = models.BooleanField("shown in the site", default=True)
    emails = models.JSONField("e-mail addresses", default=list, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = UndeletedRules()
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
        """When it fires, in words: `mean of close below 0.8`; without a scorer, about cases. With a
        warning limit also when it warns: `…, warning at 0.85`.
        """
        of, by = (f" of {self.scorer}", f" by {self.scorer}") if self.scorer else ("", "")
        limit, share = (f"{self.limit:g}" if self.limit is not None else ""), self._limit_text()
        words = {
            AlertKind.MEAN_BELOW: f"mean{of} below {share}",
            AlertKind.PASS_RATE_BELOW: f"pass rate{of} below {share}",
            AlertKind.DROP: f"statistically significant drop{of or ' of the pass rate'}"
            f"{limit and f', at least {limit}'}",
            AlertKind.REGRESSIONS: f"more than {limit} cases broken{by}",
            AlertKind.OUT_OF_LIMITS: f"level{of} decreased",
            AlertKind.NO_DATA: f"no run for {limit} day{'s' * (limit != '1')}",
        }[AlertKind(self.kind)]
        if self.warning_limit is None:
            return words
        return f"{words}, warning at {self.warning_rule()._limit_text()}"

    def _limit_text(self) -> str:
        is_share = self.kind == AlertKind.PASS_RATE_BELOW
        limit = self.limit or 0
        return plain_share(limit) if is_share else f"{limit:g}"

    def warning_rule(self) -> AlertRule:
        """A rule that fires where this one warns; it is not to be saved."""
        rule = copy(self)
        rule.limit, rule.warning_limit = self.warning_limit, None
        return rule

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None

    def described(self) -> dict[str, Any]:
        """What the audit keeps: neither the secret nor the webhook's URL."""
        settings = {name: getattr(self, name) for name in SETTINGS}
        return {"dataset": self.dataset.name, **settings, "webhook": self.webhook_shown}

    def change(self, *, by: User | None, **wanted: Any) -> str:
        """Set what is named in `wanted` anew, see `define`; the rest stays.

        Alerts of series that are no longer watched end. The secret of a new webhook URL comes back,
        else "". Raises ValidationError by field, RuleExistsError.
        """
        with transaction.atomic():
            Team.objects.lock(self.team)
            lock_row(self)
            old, old_webhook = self.described(), self.encrypted_webhook
            self._set(wanted)
            secret = self._new_secret() if self.encrypted_webhook not in ("", old_webhook) else ""
            self.save()
            self._watch()
            self._reschedule_reminders()
            new = self.described() | ({"secret_replaced": True} if secret else {})
            if new != old or self.encrypted_webhook != old_webhook:
                AuditEntry.objects.record(
                    self.team, by, "alert_rule.changed", self, old=old, new=new
                )
        return secret

    def replace_secret(self, *, by: User | None) -> str:
        """A new secret, which is shown once; the old one signs nothing any more."""
        if not self.has_webhook:
            raise ValidationError({"webhook_url": "The rule has no webhook."})
        try:
            secret = self._new_secret()
        except DecryptionError:
            raise ValidationError({"webhook_url": WEBHOOK_UNREADABLE}) from None
        with transaction.atomic():
            self.save(update_fields=["encrypted_secret"])
            AuditEntry.objects.record(self.team, by, "alert_rule.secret_replaced", self)
        return secret

    def pause(self, *, by: User | None) -> None:
        """Evaluate nothing and notify nobody until the rule is resumed; open alerts stay open."""
        self._mark("paused_at", is_set=True, action="alert_rule.paused", by=by)

    def resume(self, *, by: User | None) -> None:
        self._mark("paused_at", is_set=False, action="alert_rule.resumed", by=by)

    def remove(self, *, by: User | None) -> None:
        """Hide the rule and its alerts until it is restored, or purged some days later."""
        self._mark("deleted_at", is_set=True, action="alert_rule.deleted", by=by)

    def restore(self, *, by: User | None) -> None:
        """Raises RuleExistsError where the same is watched by another rule by now."""
        with transaction.atomic():
            Team.objects.lock(self.team)
            self._refuse_duplicate()
            self._mark("deleted_at", is_set=False, action="alert_rule.restored", by=by)

    def _mark(self, field: str, *, is_set: bool, action: str, by: User | None) -> None:
        """Set or unset the mark and audit it, unless it is so already; look at what it missed."""
        when = timezone.now() if is_set else None
        with transaction.atomic():
            rows = AlertRule.with_deleted.filter(pk=self.pk, **{f"{field}__isnull": is_set})
            if rows.update(**{field: when}):
                AuditEntry.objects.record(self.team, by, action, self)
                self.watches.update(evaluate_at=timezone.now())
        setattr(self, field, when)

    def _set(self, wanted: dict[str, Any]) -> None:
        """Take over what is wanted. Where it raises ValidationError nothing is changed."""
        candidate = AlertRule(team=self.team, dataset=self.dataset, uuid=self.uuid)
        url = wanted.pop("webhook_url", None)
        for name in SETTINGS:
            setattr(candidate, name, wanted.pop(name, getattr(self, name)))
        if wanted:
            raise TypeError(f"an alert rule has no {', '.join(wanted)}")
        candidate._tidy()
        if url is None or self._is_webhook(url.strip()):
            candidate._copy_webhook(self)
        else:
            candidate.webhook_url = url.strip()
        candidate._check(url.strip() if url else "")
        if self._state.adding or candidate.watched != self.watched:
            candidate._refuse_duplicate()
        for name in SETTINGS:
            setattr(self, name, getattr(candidate, name))
        self._copy_webhook(candidate)
        if not self.has_webhook:
            self.encrypted_secret = ""

    @property
    def watched(self) -> dict[str, Any]:
        """What makes the rule fire, however it tells: no two rules of a dataset have the same."""
        return {name: getattr(self, name) for name in WATCHED}

    def _refuse_duplicate(self) -> None:
        """A button pressed twice, or a program run twice, makes no second rule."""
        rules = AlertRule.objects.filter(dataset=self.dataset, **self.watched)
        if duplicate := rules.exclude(pk=self.pk).select_related("dataset").first():
            raise RuleExistsError(duplicate)

    def _tidy(self) -> None:
        self.series, self.scorer = self.series.strip(), self.scorer.strip()
        self.emails = list(dict.fromkeys(email.strip().lower() for email in self.emails))

    def _check(self, url: str) -> None:
        """Raise ValidationError by field; `url` is a webhook's that was just typed."""
        problems = {
            "kind": "" if self.kind in AlertKind.values else "Choose one of the kinds.",
            "scorer": self.scorer_problem,
            "limit": limit_problem(self.kind, self.limit),
            "warning_limit": warning_problem(self.kind, self.limit, self.warning_limit),
            "renotify_hours": self._hours_problem(),
            "webhook_url": webhook_problem(url) if url else "",
            "emails": self._email_problem(),
            "by_site": "" if self._has_channel else "Choose at least one way to be told.",
        }
        if errors := {field: [text] for field, text in problems.items() if text}:
            raise ValidationError(dict(errors))
        self.clean_fields(exclude=["team", "dataset", "created_by", "uuid"])

    @property
    def _has_channel(self) -> bool:
        return bool(self.by_site or self.has_webhook or self.emails)

    @property
    def scorer_problem(self) -> str:
        """Why the kind cannot look at the rule's scorer; "" where it can."""
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
        fits = is_whole and 0 <= hours <= MAX_REMINDER_HOURS
        return "" if fits else f"Give whole hours from 0 (never) to {MAX_REMINDER_HOURS:,}."

    def _email_problem(self) -> str:
        if len(self.emails) > MAX_EMAILS:
            return f"At most {MAX_EMAILS} addresses."
        members = member_emails(self, self.emails)
        strangers = ", ".join(email for email in self.emails if email not in members)
        return f"Only members of the team are told, not {strangers}." if strangers else ""

    def _watch(self) -> None:
        """Watch exactly the series the rule names, or all there are, and look at them soon."""
        names = [self.series] if self.series else series_names(self.dataset) or [""]
        self.watches.exclude(series__in=names).delete()
        unwatched = self.alerts.filter(resolved_at=None).exclude(series__in=names)
        unwatched.update(resolved_at=timezone.now(), remind_at=None)
        self.watches.schedule([self], names)

    def _reschedule_reminders(self) -> None:
        """Notify again of alerts that go on as often as the rule now says."""
        alerts = self.alerts.filter(
            state="firing", resolved_at=None, acknowledged_at=None, notified_at__isnull=False
        )
        interval = timedelta(hours=self.renotify_hours)
        alerts.update(remind_at=F("notified_at") + interval if interval else None)


class NewRule(NamedTuple):
    """A new rule, and the secret that signs its webhook's calls, which is shown once."""

    rule: AlertRule
    secret: str


WATCHED: Final = ("series", "scorer", "kind", "limit")
#: What `define` and `change` may set, and `webhook_url`.
SETTINGS: Final = (
    *WATCHED,
    "warning_limit",
    "renotify_hours",
    "by_site",
    "emails",
    "webhook_format",
)


def series_names(dataset: Dataset) -> list[str]:
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
    series_of: dict[str, set[str]] = {name: set() for name in names}
    for name, series in used.values_list("name", "run__output_set__series").distinct():
        series_of.setdefault(name, set()).add(series)
    return series_of


def member_emails(rule: AlertRule, emails: Collection[str]) -> set[str]:
    """Those of the addresses that are of present members of the rule's team."""
    people = User.objects.filter(memberships__team=rule.team_id, is_active=True)
    return set(people.filter(email__in=emails).values_list("email", flat=True))
