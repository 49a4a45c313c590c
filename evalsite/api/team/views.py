"""A team's people and programs: members, invitations, tokens, and what they did."""

from __future__ import annotations

import uuid
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite import access
from evalsite.api.base import ApiView, ListView
from evalsite.api.errors import Problem, field_problem
from evalsite.api.openapi.descriptions import describe
from evalsite.api.openapi.examples import INVITATION, TOKEN, request_example
from evalsite.api.pagination import NewestFirst
from evalsite.api.team.serializers import (
    AuditEntryShape,
    AuditQuery,
    InvitationShape,
    MemberShape,
    NewInvitation,
    NewToken,
    NewTokenShape,
    TeamShape,
    TokenShape,
)
from evalsite.blind_review import HiddenAuditValues
from evalsite.site_links import site_link
from scoring.engine.team import invitations, tokens
from scoring.models import AuditEntry, Invitation, Member, Role, Scope, Team, Token
from scoring.models.team.outgoing_mail import LINK_KEY


class TeamList(ListView):
    """Your teams; of a token the one it acts in."""

    asks_team = False
    serializer_class = TeamShape

    def get_queryset(self) -> QuerySet[Member]:
        teams = Team.objects.of(self.user).order_by()
        return self.user.memberships.filter(team__in=teams).select_related("team")


class MemberList(ListView):
    """Who is in the team."""

    serializer_class = MemberShape

    def get_queryset(self) -> QuerySet[Member]:
        return Member.objects.filter(team=self.team()).select_related("user")


class InvitationList(ListView):
    """The team's open invitations; admins see them."""

    scope = Scope.ADMIN
    serializer_class = InvitationShape

    def get_queryset(self) -> QuerySet[Invitation]:
        return self.team(Role.ADMIN).invitations.open().select_related("created_by")

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "link_of": self._link_of}

    def _link_of(self, invitation: Invitation) -> str:
        return self._link(invitation.key)

    def _link(self, key: str) -> str:
        return site_link(self.request, reverse("invitation", args=[key]))

    @describe(
        request=NewInvitation,
        responses={201: InvitationShape},
        examples=[request_example(INVITATION)],
    )
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Invite an address, in place of an open invitation to it; admins may.

        The link is mailed where the site has a mail server. 409 for a member.
        """
        team = self.team(Role.ADMIN)
        wanted = self.parse_body(NewInvitation)
        link = self._link(LINK_KEY)
        try:
            made = invitations.invite(team, wanted["email"], wanted["role"], self.user, link)
        except invitations.AlreadyMemberError:
            text = "This address belongs to a member of the team."
            raise Problem(409, "already_member", text) from None
        return Response(self.get_serializer(made).data, 201)


class InvitationDetail(ApiView):
    """One invitation."""

    scope = Scope.ADMIN
    serializer_class = InvitationShape

    @describe(responses={204: None})
    def delete(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Revoke it; admins may. One that was accepted stays so."""
        access.invitation_for(self.user, uid).revoke(self.user)
        return Response(status=204)


class TokenList(ListView):
    """The team's tokens, revoked and expired ones too; admins see them."""

    scope = Scope.ADMIN
    serializer_class = TokenShape

    def get_queryset(self) -> QuerySet[Token]:
        return Token.objects.for_list(self.team(Role.ADMIN))

    @describe(request=NewToken, responses={201: NewTokenShape}, examples=[request_example(TOKEN)])
    def post(self, request: Request) -> Response:  # noqa: ARG002
        """Make a token for yourself or a service account; admins may, tokens may not.

        Its secret is shown this once, so a repeated request makes another token.
        """
        instead = "An admin creates it in the team settings."
        self.refuse_program("creates tokens", instead)
        team = self.team(Role.ADMIN)
        wanted = self.parse_body(NewToken)
        token, secret = tokens.create_token(
            self._find_member(team, wanted),
            wanted["name"],
            wanted["role"],
            list(dict.fromkeys(wanted["scopes"])),
            wanted["days"],
            self.user,
        )
        return Response({**TokenShape(token).data, "secret": secret}, 201)

    def _find_member(self, team: Team, wanted: dict[str, Any]) -> Member:
        members = Member.objects.select_related("team", "user").filter(team=team)
        if "service_account" not in wanted:
            return members.get(user=self.user)
        accounts = members.filter(user__is_service=True, user__name=wanted["service_account"])
        account = accounts.order_by("pk").first()
        if account is None:
            text = "The team has no service account of this name."
            raise field_problem(422, "service_account", "does_not_exist", text)
        return account


class TokenDetail(ApiView):
    """One token."""

    scope = Scope.ADMIN
    serializer_class = TokenShape

    @describe(responses={204: None})
    def delete(self, request: Request, uid: uuid.UUID) -> Response:  # noqa: ARG002
        """Revoke it for good; admins may. Twice counts once."""
        access.token_for(self.user, uid).revoke(self.user)
        return Response(status=204)


class AuditPages(NewestFirst):
    query = AuditQuery


class AuditList(ListView):
    """The team's audit log; admins see it."""

    serializer_class = AuditEntryShape
    pagination_class = AuditPages

    @cached_property
    def is_hidden(self) -> HiddenAuditValues:
        return HiddenAuditValues(self.user, self.team(Role.ADMIN))

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "is_hidden": self.is_hidden}

    def get_queryset(self) -> QuerySet[AuditEntry]:
        team = self.team(Role.ADMIN)
        asked = self.parse_query(self.request, AuditQuery).validated_data
        entries = AuditEntry.objects.of(team)
        if "since" in asked:
            entries = entries.filter(at__gte=asked["since"])
        if "before" in asked:
            entries = entries.filter(at__lt=asked["before"])
        texts = (asked.get("who", ""), asked.get("action", ""), asked.get("object", ""))
        return entries.matching(*texts, by_name=not self.is_hidden.hides_any)

    @describe(parameters=[AuditQuery])
    def get(self, request: Request, **_: Any) -> Response:
        """The newest first. Hidden until you have reviewed your cases: what others said of them."""
        return self.list(request)
