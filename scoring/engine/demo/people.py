"""The people of the demo team besides those who look at it.

They have no password and are inactive, so nobody can sign in as one of them, and the set-up link of
a new site stays valid. No mail reaches their addresses: by definition nobody is at .invalid.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from scoring.models import AuditEntry, Member, Role, Team, User
from scoring.models.team.team import DEMO_DOMAIN


class DemoPerson(NamedTuple):
    """Somebody who reviews: which share of hedged answers they fail, and of mistakes they miss."""

    name: str
    role: Role
    fails_hedges: float = 0.0
    misses_mistakes: float = 0.0

    @property
    def email(self) -> str:
        return f"{self.name.lower().replace(' ', '.')}@{DEMO_DOMAIN}"


MARA: Final = DemoPerson("Mara Lindqvist", Role.REVIEWER, fails_hedges=0.4)
TOMAS: Final = DemoPerson("Tomas Adeyemi", Role.REVIEWER, fails_hedges=0.1, misses_mistakes=0.1)
INES: Final = DemoPerson("Ines Carvalho", Role.EDITOR)
PEOPLE: Final = (MARA, TOMAS, INES)


def create_people(team: Team, by: User | None) -> dict[DemoPerson, User]:
    """Their accounts, as members of the team; those of an earlier demo are used again."""
    return {person: _create(person, team, by) for person in PEOPLE}


def _create(person: DemoPerson, team: Team, by: User | None) -> User:
    user = User.objects.filter(email=person.email).first()
    if user is None:
        user = User.objects.create_user(person.email, None, name=person.name, is_active=False)
        AuditEntry.objects.record(None, by, "user.created", user, new={"email": user.email})
    member = Member.objects.create(team=team, user=user, role=person.role)
    AuditEntry.objects.record(team, by, "member.added", member, new={"role": person.role.label})
    return user
