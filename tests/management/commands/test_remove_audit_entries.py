"""`manage.py remove_audit_entries`: old entries go, and the audit log can still be verified."""

from __future__ import annotations

import io
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from scoring.models import AuditCheckpoint, AuditEntry, Team, User

NOW = timezone.now()


def run(command: str, *options: str) -> str:
    out = io.StringIO()
    call_command(command, *options, stdout=out)
    return out.getvalue()


def remove(*options: str, days: float = 30) -> str:
    """With the entries of the last days kept."""
    moment = (NOW - timedelta(days=days)).isoformat()
    return run("remove_audit_entries", "--before", moment, *options)


def record(team: Team | None, *days: int) -> None:
    """An entry so many days ago, each."""
    for ago in days:
        moment = NOW - timedelta(days=ago)
        with patch("django.utils.timezone.now", return_value=moment):
            target = team or User(pk=1, email="x@example.org")
            AuditEntry.objects.record(team, None, "noun.verb", target)


@pytest.fixture
def teams(team: Team) -> list[Team]:
    return [team, Team.objects.create(name="Sales", slug="sales")]


def numbers(team: Team | None) -> list[int]:
    return sorted(AuditEntry.objects.of(team).values_list("number", flat=True))


def test_old_entries_of_every_team_go_and_the_log_stays_sound(teams: list[Team]) -> None:
    for team in (*teams, None):
        record(team, 90, 60, 10)
    out = remove()
    assert "Support: 2 entries up to entry 2, hash " in out
    assert "the site: 2 entries up to entry 2, hash " in out
    assert out.endswith("6 entries from before " + f"{NOW - timedelta(days=30):%Y-%m-%d %H:%M}"
                        " UTC removed.\n")  # fmt: skip
    assert [numbers(each) for each in (*teams, None)] == [[3, 4]] * 3
    assert AuditCheckpoint.objects.count() == 3
    assert set(AuditEntry.objects.values_list("action", "actor_name")) == {
        ("noun.verb", "the site"),
        ("audit.removed", "the operator"),
    }
    assert "is sound: 6 entries in 3 chains" in run("verify_audit")
    record(teams[0], 0)
    assert "is sound: 7 entries" in run("verify_audit")


def test_only_the_named_team_loses_entries(teams: list[Team]) -> None:
    for team in teams:
        record(team, 90, 10)
    assert "1 entry from before" in remove("--team", "sales")
    assert (numbers(teams[0]), numbers(teams[1])) == ([1, 2], [2, 3])
    assert "is sound" in run("verify_audit")


def test_a_dry_run_removes_nothing(team: Team) -> None:
    record(team, 90, 60, 10)
    assert "Support: 2 entries\n2 entries from before" in remove("--dry-run")
    assert (numbers(team), AuditCheckpoint.objects.count()) == ([1, 2, 3], 0)


def test_entries_of_a_team_that_is_gone_go_too(team: Team) -> None:
    record(team, 90, 10)
    team_id = str(team.uuid)
    team.delete()
    assert "Support: 1 entry up to entry 1" in remove()
    left = AuditEntry.objects.filter(team_id=team_id).order_by("number")
    assert [entry.action for entry in left] == ["noun.verb", "audit.removed"]
    assert "is sound" in run("verify_audit")


def test_what_a_clock_set_back_dated_early_stays_behind_a_later_entry(team: Team) -> None:
    record(team, 90, 10, 60)
    assert "1 entry from before" in remove()
    assert numbers(team) == [2, 3, 4]


def test_nothing_old_is_said_and_leaves_no_entry(team: Team) -> None:
    record(team, 10)
    assert remove().startswith("0 entries from before")
    assert numbers(team) == [1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--before", "soon"], "'soon' is no date"),
        (["--before", "9999-01-01"], "lies in the future"),
        ([], "--before"),
        (["--before", "2020-01-01", "--team", "nobody"], "There is no team “nobody”"),
    ],
)
def test_misuse_ends_with_2(team: Team, options: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said) as raised:
        run("remove_audit_entries", *options)
    assert raised.value.returncode in {1, 2}
