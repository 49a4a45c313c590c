"""Mentions: "@name" in a note or a comment leaves a notice to that member of the team."""

from __future__ import annotations

import re
from typing import Final

from scoring.models import Notice, Output, Run, User

#: "@alice" or "@alice@example.org", not within a word or an address.
_MENTION: Final = re.compile(r"(?<![\w.@])@([\w.+-]*\w(?:@[\w-]+(?:\.[\w-]+)+)?)")


def mentioned_members(text: str, run: Run) -> list[User]:
    """The members of the run's team that the text mentions, by e-mail address.

    A name alone is the part of the address before the "@", where just one member has it.
    """
    names = {name.lower() for name in _MENTION.findall(text)}
    if not names:
        return []
    members = User.objects.filter(memberships__team=run.team, is_active=True).order_by("email")
    by_name: dict[str, list[User]] = {}
    for member in members:
        for name in (member.email, member.email.partition("@")[0]):
            by_name.setdefault(name.lower(), []).append(member)
    found = [by_name[name][0] for name in names if len(by_name.get(name, ())) == 1]
    return sorted(set(found), key=lambda member: member.email)


def notify_mentioned(run: Run, output: Output, text: str, old: str = "", *, by: User) -> None:
    """Leave a notice to each member whom the text mentions and its `old` version did not."""
    before = mentioned_members(old, run)
    path = f"/runs/{run.uuid}/cases/{output.case.position}/"
    if output.trial:
        path += f"?trial={output.trial}"
    sentence = f"{by} mentioned you on {output.case.key} of {run.name}."
    for member in mentioned_members(text, run):
        if member != by and member not in before:
            Notice.objects.create(user=member, run=run, text=sentence[:300], path=path)
