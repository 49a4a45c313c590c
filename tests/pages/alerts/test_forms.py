"""Alert rules are made and changed by a form that asks for each limit in its own unit."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from scoring.models import (
    AlertKind,
    AlertRule,
    AuditEntry,
    DatasetVersion,
    Member,
    Run,
    Team,
    User,
)
from tests.pages.alerts.steps import (
    HOOK,
    HOOK_SHOWN,
    MakeRule,
    administrator,
    make_rule,
    typed,
    version,
)
from tests.support.drift_runs import run_in_week, scorer_of
from tests.support.undone import undone

__all__ = ["administrator", "make_rule", "version"]  # fixtures


def new_url(version: DatasetVersion, query: str = "") -> str:
    team, dataset = version.dataset.team, version.dataset
    return f"{reverse('new_alert_rule', args=[team.slug])}?dataset={dataset.uuid}{query}"


def test_a_limit_is_kept_in_the_unit_of_the_rule(
    administrator: Client, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, dict[str, str], float | None, str]] = [
        ("mean_below", {}, 0.8, "close"),
        ("mean_below", {"limit_mean_below": " .75 "}, 0.75, "close"),
        ("pass_rate_below", {"scorer": ""}, 0.9, ""),
        ("pass_rate_below", {"limit_pass_rate_below": "85.7 %"}, 0.857, "close"),
        ("drop", {"scorer": ""}, None, ""),
        ("drop", {"limit_drop": "0.05"}, 0.05, "close"),
        ("regressions", {"limit_regressions": "3"}, 3.0, "close"),
        ("out_of_limits", {}, None, "close"),
        ("no_data", {"limit_no_data": "14"}, 14.0, ""),
        ("no_data", {"limit_mean_below": "no number"}, 8.0, ""),  # of a kind not chosen
    ]
    for kind, fields, limit, scorer in cases:
        with subtests.test(kind=kind, fields=fields, limit=limit, scorer=scorer), undone():
            answer = administrator.post(new_url(version), typed(kind=kind, series="bot", **fields))
            made = AlertRule.objects.get()
            assert answer["Location"] == reverse("alert_rule", args=[made.uuid])
            assert (made.kind, made.limit, made.scorer, made.series) == (kind, limit, scorer, "bot")
            assert AuditEntry.objects.get(action="alert_rule.created").actor == made.created_by


def test_a_warning_is_kept_and_shown_in_the_unit_of_the_rule(
    administrator: Client, version: DatasetVersion
) -> None:
    fields = {"limit_pass_rate_below": "80", "warning_pass_rate_below": "85.5 %"}
    administrator.post(new_url(version), typed(kind="pass_rate_below", **fields))
    rule = AlertRule.objects.get()
    assert (rule.limit, rule.warning_limit) == (0.8, 0.855)
    form = administrator.get(reverse("alert_rule", args=[rule.uuid])).context["form"]
    assert form["warning_pass_rate_below"].value() == "85.5"


def test_a_warning_comes_before_the_limit(
    administrator: Client, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    for kind, limit, warning, problem in [
        ("pass_rate_below", "80", "70", "A warning comes first: give more than the limit."),
        ("regressions", "3", "3", "A warning comes first: give less than the limit."),
        ("drop", "", "0.1", "Only a rule with a limit can warn before it."),
        ("mean_below", "0.8", "2", "Give a number above 0 and up to 1."),
        ("mean_below", "0.8", "x", "This is not a number: write one such as 0.8 or 12."),
    ]:
        with subtests.test(kind=kind, warning=warning):
            fields = {f"limit_{kind}": limit, f"warning_{kind}": warning}
            answer = administrator.post(new_url(version), typed(kind=kind, **fields))
            assert answer.context["form"].errors == {f"warning_{kind}": [problem]}
            assert not AlertRule.objects.exists()


def test_nonsense_is_refused_beside_its_field(
    administrator: Client, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"kind": ""}, "kind", "This field is required"),
        ({"kind": "guess"}, "kind", "not one of the available choices"),
        ({"limit_mean_below": ""}, "limit_mean_below", "Give a number above 0 and up to 1."),
        ({"limit_mean_below": "80"}, "limit_mean_below", "Give a number above 0 and up to 1."),
        ({"limit_mean_below": "0"}, "limit_mean_below", "Give a number above 0 and up to 1."),
        ({"limit_mean_below": "0,8"}, "limit_mean_below", "This is not a number"),
        ({"limit_mean_below": "nan"}, "limit_mean_below", "This is not a number"),
        ({"limit_mean_below": "-0.5"}, "limit_mean_below", "This is not a number"),
        ({"scorer": ""}, "scorer", "This kind looks at one scorer's mean: choose the scorer."),
        ({"scorer": "gone"}, "scorer", "not one of the available choices"),
        ({"series": "gone"}, "series", "not one of the available choices"),
        (
            {"kind": "pass_rate_below", "limit_pass_rate_below": "0.9"},
            "limit_pass_rate_below",
            "Give a share from 1 to 100 %, such as 90.",
        ),
        (
            {"kind": "pass_rate_below", "limit_pass_rate_below": "101"},
            "limit_pass_rate_below",
            "Give a share from 1 to 100 %, such as 90.",
        ),
        ({"kind": "drop", "limit_drop": "5"}, "limit_drop", "up to 1, or nothing."),
        (
            {"kind": "regressions", "limit_regressions": "1.5"},
            "limit_regressions",
            "Give a whole number of cases, 0 or more.",
        ),
        (
            {"kind": "no_data", "limit_no_data": "0"},
            "limit_no_data",
            "Give a whole number of days from 1 to 365.",
        ),
        ({"renotify_hours": "-1"}, "renotify_hours", "greater than or equal to 0"),
        ({"renotify_hours": "often"}, "renotify_hours", "Enter a whole number"),
        ({"by_site": ""}, "by_site", "Choose at least one way to be told."),
        ({"emails": ["charlie@example.org"]}, "emails", "not one of the available choices"),
        ({"webhook_url": "http://hooks.example.org/x"}, "webhook_url", "Use https"),
        ({"webhook_url": "https://10.0.0.1/x"}, "webhook_url", "10.0.0.1"),
        ({"webhook_url": "https://u:p@example.org"}, "webhook_url", "user name or password"),
    ]
    for fields, field, said in cases:
        with subtests.test(fields=fields, field=field, said=said), undone():
            answer = administrator.post(new_url(version), typed(**fields))
            assert answer.status_code == 422
            assert said in " ".join(answer.context["form"].errors[field])
            assert said in unescape(answer.text)
            assert "Nothing was saved" in answer.text
            assert not AlertRule.objects.exists()


def test_a_preview_links_the_runs_that_would_have_fired_and_saves_nothing(
    administrator: Client, version: DatasetVersion
) -> None:
    sent = typed(kind="pass_rate_below", scorer="", series="bot", preview="now")
    page = administrator.post(new_url(version), sent | {"limit_pass_rate_below": "60"})
    fired = Run.objects.get(name="w2")
    assert page.status_code == 200
    assert f'<a href="{reverse("run", args=[fired.uuid])}">w2</a>' in page.text
    assert "on 1 of the latest 2 runs" in " ".join(page.text.split())
    none = administrator.post(new_url(version), sent | {"limit_pass_rate_below": "40"})
    assert "The rule would have fired on none of them." in none.text
    assert not AlertRule.objects.exists()


def test_a_preview_in_place_is_the_list_alone(
    administrator: Client, version: DatasetVersion
) -> None:
    headers = {"HX-Request": "true", "HX-Target": "past_runs"}
    url = "https://hooks.example.org/x"
    part = administrator.post(
        new_url(version), typed(preview="now", webhook_url=url), headers=headers
    )
    assert part.text.lstrip().startswith('<section id="past_runs"')
    assert "<form" not in part.text
    whole = administrator.post(new_url(version), typed(preview="now", webhook_url=url))
    assert "Type the URL again" in whole.text
    assert url not in whole.text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"limit_mean_below": "80"}, "Mean, from 0 to 1: Give a number above 0 and up to 1."),
        ({"scorer": ""}, "Scorer: This kind looks at one scorer's mean: choose the scorer."),
    ],
)
def test_a_preview_needs_a_whole_condition_and_no_more(
    administrator: Client, version: DatasetVersion, fields: dict[str, str], said: str
) -> None:
    page = administrator.post(new_url(version), typed(preview="now", **fields))
    assert said in unescape(page.text)
    page = administrator.post(new_url(version), typed(preview="now", by_site=""))
    assert "Would have fired" in page.text


def test_a_rule_is_previewed_as_it_is_typed(
    administrator: Client, version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule()
    sent = typed(kind="pass_rate_below", series="other", scorer="", preview="now")
    page = administrator.post(reverse("alert_rule", args=[rule.uuid]), sent)
    assert "on 1 of the latest 1 run;" in " ".join(page.text.split())
    rule.refresh_from_db()
    assert (rule.kind, rule.series) == ("mean_below", "bot")
    assert not AuditEntry.objects.filter(action="alert_rule.changed").exists()


def test_the_format_of_the_webhook_is_chosen_and_shown(
    administrator: Client, version: DatasetVersion
) -> None:
    url = "https://hooks.slack.com/services/T0/B1/xyz"
    administrator.post(new_url(version), typed(webhook_url=url, webhook_format="slack"))
    made = AlertRule.objects.get()
    page = administrator.get(reverse("alert_rule", args=[made.uuid]))
    assert '<option value="slack" selected>Slack</option>' in page.text
    administrator.post(reverse("alert_rule", args=[made.uuid]), typed(webhook_format="teams"))
    made.refresh_from_db()
    assert (made.webhook_format, made.has_webhook) == ("teams", True)
    refused = administrator.post(new_url(version), typed(webhook_format="telegram"))
    assert "webhook_format" in refused.context["form"].errors


def test_a_rule_that_is_there_already_is_not_made_twice(
    administrator: Client, version: DatasetVersion
) -> None:
    assert administrator.post(new_url(version), typed()).status_code == 302
    again = administrator.post(new_url(version), typed(renotify_hours="1"))
    assert again.status_code == 422
    made = AlertRule.objects.get()
    assert f"The rule “{made}” watches just this already: change that one." in again.text
    assert f'href="{reverse("alert_rule", args=[made.uuid])}">Go to that rule' in again.text
    assert administrator.post(new_url(version), typed(series="bot")).status_code == 302
    assert AlertRule.objects.count() == 2


def test_a_refused_host_comes_with_the_line_that_lets_it_through(
    administrator: Client, version: DatasetVersion, settings: Settings
) -> None:
    sent = typed(webhook_url="http://localhost:9000/hook")
    answer = administrator.post(new_url(version), sent)
    assert ">EVALSITE_WEBHOOK_HOSTS=localhost:9000<" in answer.text
    settings.EVALSITE_WEBHOOK_HOSTS = frozenset({"localhost:9000"})
    assert administrator.post(new_url(version), sent).status_code == 302


def scorers_offered(administrator: Client, url: str) -> dict[str, list[str]]:
    choices = administrator.get(url).context["form"].fields["scorer"].choices
    assert choices[0] == ("", "all scorers: the cases' verdicts")
    return {label: [name for name, _ in group] for label, group in choices[1:]}


def test_scorers_that_know_the_series_come_first(
    administrator: Client, version: DatasetVersion
) -> None:
    run_in_week(version, 4, letters="pppp", series="other", scorers=[scorer_of(version, "same")])
    scorer_of(version, "never")
    assert scorers_offered(administrator, new_url(version, "&series=bot")) == {
        "Have scored the series bot": ["close"],
        "Have scored other series of it": ["same"],
        "Have never scored this dataset": ["never"],
    }
    assert scorers_offered(administrator, new_url(version)) == {
        "Have scored this dataset": ["close", "same"],
        "Have never scored this dataset": ["never"],
    }


def test_the_scorer_of_a_rule_is_offered_though_it_is_gone(
    administrator: Client, make_rule: MakeRule
) -> None:
    rule = make_rule()
    AlertRule.objects.filter(pk=rule.pk).update(scorer="gone")
    found = scorers_offered(administrator, reverse("alert_rule", args=[rule.uuid]))
    assert found["Have never scored this dataset"] == ["gone"]


def test_every_kind_is_offered_and_one_that_needs_no_number_is_chosen(
    administrator: Client, version: DatasetVersion
) -> None:
    form = administrator.get(new_url(version)).context["form"]
    assert {choice.radio.data["value"] for choice in form.kinds} == set(AlertKind.values)
    (chosen,) = [choice for choice in form.kinds if choice.radio.data["selected"]]
    assert chosen.radio.data["value"] == "drop"
    assert chosen.limit.value() == ""


def test_a_line_that_the_address_names_is_filled_in(
    administrator: Client, version: DatasetVersion
) -> None:
    html = administrator.get(new_url(version, "&series=bot&scorer=close&kind=no_data")).text
    assert '<option value="bot" selected>' in html
    assert '<option value="close" selected>' in html
    assert re.search(r'value="no_data"[^>]* checked', html)
    unknown = administrator.get(new_url(version, "&series=gone&scorer=gone&kind=gone"))
    assert unknown.status_code == 200
    assert 'value="gone"' not in unknown.text


def test_members_alone_are_offered_for_mail(
    administrator: Client, version: DatasetVersion, bob: User, charlie: User, team: Team
) -> None:
    html = administrator.get(new_url(version)).text
    assert bob.email in html
    assert charlie.email not in html


def test_the_settings_are_shown_as_they_were_typed_and_change(
    administrator: Client, make_rule: MakeRule, bob: User
) -> None:
    rule = make_rule(kind="pass_rate_below", limit=0.857, emails=[bob.email])
    url = reverse("alert_rule", args=[rule.uuid])
    form = administrator.get(url).context["form"]
    assert form["limit_pass_rate_below"].value() == "85.7"
    assert form["emails"].value() == [bob.email]
    sent = typed(kind="pass_rate_below", limit_pass_rate_below="70", series="other")
    assert administrator.post(url, sent).status_code == 302
    now = AlertRule.objects.get()
    assert (now.limit, now.series, now.emails, now.scorer) == (0.7, "other", [], "close")
    assert AuditEntry.objects.get(action="alert_rule.changed").new["limit"] == 0.7


def test_a_rule_that_mails_somebody_who_left_says_so(
    administrator: Client, make_rule: MakeRule, bob: User
) -> None:
    rule = make_rule(emails=[bob.email])
    Member.objects.filter(user=bob).delete()
    url = reverse("alert_rule", args=[rule.uuid])
    assert "bob@example.org (former member)" in administrator.get(url).text
    answer = administrator.post(url, typed(series="bot", emails=[bob.email]))
    assert "Only members of the team are told, not bob@example.org." in answer.text
    assert administrator.post(url, typed(series="bot")).status_code == 302


def test_the_secret_of_a_new_webhook_is_shown_once(
    administrator: Client, version: DatasetVersion
) -> None:
    sent = typed(webhook_url=HOOK)
    first = administrator.post(new_url(version), sent, follow=True)
    rule = AlertRule.objects.get()
    secret = rule.secret()
    assert f">{secret}<" in first.text
    url = reverse("alert_rule", args=[rule.uuid])
    assert secret not in administrator.get(url).text
    assert secret not in str(dict(administrator.session))
    changed = administrator.post(url, sent | {"webhook_url": f"{HOOK}2"}, follow=True)
    assert AlertRule.objects.get().secret() in changed.text
    again = administrator.post(reverse("alert_rule_secret", args=[rule.uuid]), follow=True)
    assert AlertRule.objects.get().secret() in again.text
    assert secret not in changed.text + again.text


def test_until_it_is_shown_the_secret_lies_sealed_in_the_session(
    administrator: Client, version: DatasetVersion
) -> None:
    administrator.post(new_url(version), typed(webhook_url=HOOK))
    rule = AlertRule.objects.get()
    (kept,) = [text for name, text in administrator.session.items() if str(rule.uuid) in name]
    assert rule.secret() not in kept


def test_a_rule_without_a_webhook_has_no_secret(administrator: Client, make_rule: MakeRule) -> None:
    url = reverse("alert_rule_secret", args=[make_rule().uuid])
    assert "The rule has no webhook." in administrator.post(url, follow=True).text


def test_a_rules_other_settings_change_without_its_url(
    administrator: Client, make_rule: MakeRule
) -> None:
    rule = make_rule(webhook_url=HOOK)
    url = reverse("alert_rule", args=[rule.uuid])
    page = administrator.get(url)
    assert f"Alerts are posted to {HOOK_SHOWN}. Leave this empty to keep it." in page.text
    assert "/services/" not in page.text
    changed = typed(series="bot", limit_mean_below="0.7", renotify_hours="3")
    assert administrator.post(url, changed).status_code == 302
    now = AlertRule.objects.get()
    assert (now.limit, now.renotify_hours) == (0.7, 3)
    assert (now.webhook_url, now.secret()) == (HOOK, rule.secret())


def test_a_webhook_is_removed_by_its_box(administrator: Client, make_rule: MakeRule) -> None:
    rule = make_rule(webhook_url=HOOK)
    url = reverse("alert_rule", args=[rule.uuid])
    administrator.post(url, typed(series="bot", remove_webhook="on"))
    assert not AlertRule.objects.get().has_webhook
    assert "Remove the webhook" not in administrator.get(url).text


@pytest.mark.parametrize("fields", [{"limit_mean_below": "80"}, {"scorer": ""}])
def test_a_refused_form_does_not_show_the_url_and_asks_for_it_again(
    administrator: Client, version: DatasetVersion, fields: dict[str, str]
) -> None:
    answer = administrator.post(new_url(version), typed(webhook_url=HOOK, **fields))
    assert answer.status_code == 422
    assert "Type the URL again" in answer.text
    assert "/services/" not in answer.text
    assert "Type the URL again" not in administrator.post(new_url(version), typed(**fields)).text
    refused = typed(webhook_url=f"{HOOK}/".replace("https", "http"))
    assert "/services/" not in administrator.post(new_url(version), refused).text
