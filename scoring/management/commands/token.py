"""`manage.py token`: a token for a program, its secret shown once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from scoring.engine.team.tokens import create_token
from scoring.management.console import OperatorCommand, checked_name, requires_database, usage_error
from scoring.management.database import check_database
from scoring.models import Member, Role, Scope

MAX_DAYS = 3_650
ROLES = {role.label: role for role in Role}


class Command(OperatorCommand):
    help = "Issue a token that lets a program act in a team, in a member's name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument("--email", required=True, help="of the member it acts for")
        parser.add_argument("--name", required=True, help="what the token is for")
        parser.add_argument(
            "--role", choices=ROLES, default="editor", help="what it may do at most"
        )
        parser.add_argument(
            "--scope", choices=Scope.values, action="append",
            help="what it is for, once for each; without any, everything its role may do",
        )  # fmt: skip
        parser.add_argument("--days", type=int, metavar="N", help="until it expires; else never")

    def handle(self, **options: Any) -> None:
        name = checked_name("--name", options["name"], 100)
        with requires_database():
            check_database()
            member = _member(options["team"], checked_name("--email", options["email"], 254))
        role = ROLES[options["role"]]
        days = options["days"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise usage_error(f"--days is a number from 1 to {MAX_DAYS:,}.")
        scopes = options["scope"] or Scope.values
        _, secret = create_token(member, name, role, scopes, days, None)
        self.stderr.write("Keep this secret: it is not shown again.")
        self.stdout.write(secret)


def _member(slug: str, email: str) -> Member:
    members = Member.objects.select_related("team", "user")
    member = members.filter(team__slug=slug, user__email=email.lower()).first()
    if member is None:
        text = f"The team {slug} has no member {email}. Team settings on the site list the members."
        raise usage_error(text)
    return member
