"""What every view of the API shares: who asks, in which team, and with what body."""

from __future__ import annotations

from collections.abc import Callable
from errno import ENOSPC
from typing import Any, TypeVar, cast
from uuid import UUID

from django.http import Http404
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.pagination import BasePagination
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from evalsite import access
from evalsite.api.errors import Problem, missing_problem
from evalsite.api.pagination import NewestFirst
from evalsite.api.parsers import refuse_cut_form
from scoring.engine.processes.disk_space import DISK_FULL, is_out_of_space
from scoring.models import Role, Scope, Team, User

Query = TypeVar("Query", bound=BaseSerializer[Any])
Found = TypeVar("Found")


class ApiView(GenericAPIView[Any]):
    """A view that knows its user as one of ours."""

    pagination_class: type[BasePagination] | None = None
    stores = True  # whether requests of unsafe methods store anything
    scope: Scope = Scope.READ  # what a token needs for requests of unsafe methods

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what the token is not for, and what would be stored while the disk is full."""
        super().initial(request, *args, **kwargs)
        self._check_scope(Scope.READ if request.method in SAFE_METHODS else self.scope)
        if self.stores and request.method not in SAFE_METHODS and is_out_of_space():
            raise OSError(ENOSPC, DISK_FULL)

    def _check_scope(self, scope: Scope) -> None:
        token = self.user.token
        if token and scope not in token.scopes:
            text = f"The token {token.name} lacks the scope {scope.label}, which this takes."
            raise Problem(403, "scope_missing", text)

    @property
    def user(self) -> User:
        return cast("User", self.request.user)

    def team(self, role: Role = Role.VIEWER) -> Team:
        """The token's team, the one that `?team=` names, or the only one there is."""
        return team_of(self.request, role)

    def refuse_program(self, act: str, instead: str) -> None:
        """Raise the problem of a token that is to do what a person signs: `act`, such as "changes
        thresholds"; `instead` says what the program may do.
        """
        if self.user.token:
            text = f"Only a person who is signed in {act}, not a token. {instead}"
            raise Problem(403, "person_required", text)

    def parse_query(self, request: Request, query: type[Query]) -> Query:
        """The address's query string as this serializer has read it."""
        reader = query(data=request.query_params)
        reader.is_valid(raise_exception=True)
        return reader

    def look_up(self, field: str, uid: UUID, get: Callable[[User, UUID], Found]) -> Found:
        """What a field names, got by a function of `access`. Raises the problem of a missing id."""
        try:
            return get(self.user, uid)
        except Http404:
            raise missing_problem(field) from None

    def parse_body(self, body: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The request's body as this serializer reads it."""
        sent = self.request.data
        refuse_cut_form(self.request)
        reader = body(data=sent)
        reader.is_valid(raise_exception=True)
        return cast("dict[str, Any]", reader.validated_data)


class ListView(ListModelMixin, ApiView):
    """A view that lists a team's rows in pages; the schema reads `asks_team`."""

    asks_team = True
    pagination_class = NewestFirst

    def get(self, request: Request, **_: Any) -> Response:
        return self.list(request)


def team_of(request: Request, role: Role) -> Team:
    """The team a request is about; the user must be a member with at least `role`.

    Raises a problem `team_required` where there are several to choose from.
    """
    user = cast("User", request.user)
    slug = request.query_params.get("team")
    if slug is None:
        mine = list(Team.objects.of(user).values_list("slug", flat=True)[:2])
        if len(mine) != 1:
            text = "Say which of your teams is meant: add ?team= and its name in the address."
            raise Problem(400, "team_required", text)
        slug = mine[0]
    return access.team_for(user, slug, role)
