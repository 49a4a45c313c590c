"""Teams, members, invitations, tokens and the audit log: what is sent and what is shown."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalsite.api.fields import BodySerializer, IntegerField, NameField, TextField
from evalsite.api.pagination import PageQuery
from scoring.models import AuditEntry, Invitation, Member, Role, Scope, Token

ROLE_NAMES = [role.label for role in Role]
ROLES = {role.label: role for role in Role}
SCOPE_NAMES = list(Scope.values)
MAX_DAYS = 3_650


class RoleField(serializers.ChoiceField):
    """A role by its name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(ROLE_NAMES, **options)

    def to_internal_value(self, data: Any) -> Any:
        return ROLES[super().to_internal_value(data)]

    def to_representation(self, value: Any) -> str:
        return Role(value).label


class TeamShape(serializers.ModelSerializer[Member]):
    """A team of whoever asks, with their role there."""

    id = serializers.UUIDField(source="team.uuid")
    slug = serializers.CharField(source="team.slug", help_text="What `?team=` takes.")
    name = serializers.CharField(source="team.name")
    role = RoleField()

    class Meta:
        model = Member
        fields = ["id", "slug", "name", "role"]
        read_only_fields = fields


class MemberShape(serializers.ModelSerializer[Member]):
    """Somebody in a team, or a service account."""

    name = serializers.CharField(source="user.name")
    email = serializers.CharField(source="user.email")
    role = RoleField()
    is_service_account = serializers.BooleanField(source="user.is_service")

    class Meta:
        model = Member
        fields = ["name", "email", "role", "is_service_account", "joined_at"]
        read_only_fields = fields


class NewInvitation(BodySerializer):
    email = serializers.EmailField(max_length=254)
    role = RoleField(default=Role.VIEWER)


class InvitationShape(serializers.ModelSerializer[Invitation]):
    """An open invitation."""

    id = serializers.UUIDField(source="uuid")
    role = RoleField()
    invited_by = serializers.SerializerMethodField()
    link = serializers.SerializerMethodField()

    class Meta:
        model = Invitation
        fields = ["id", "email", "role", "invited_by", "link", "created_at", "expires_at"]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "nullable": True})
    def get_invited_by(self, invitation: Invitation) -> str | None:
        return str(invitation.created_by) if invitation.created_by else None

    @extend_schema_field(
        {
            "type": "string",
            "nullable": True,
            "description": "Lets in whoever owns the address. Null for one that was asked for "
            "through the join link: its link is mailed to the address alone.",
        }
    )
    def get_link(self, invitation: Invitation) -> str | None:
        link_of = self.context["link_of"]
        return None if invitation.is_requested else str(link_of(invitation))


class NewToken(BodySerializer):
    name = NameField(max_length=100)
    role = RoleField(default=Role.EDITOR, help_text="At most that of whom it acts for.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(SCOPE_NAMES), default=SCOPE_NAMES, allow_empty=False
    )
    days = IntegerField(
        default=90,
        allow_null=True,
        min_value=1,
        max_value=MAX_DAYS,
        help_text="Until it expires; null for never.",
    )
    service_account = TextField(
        required=False, help_text="The name of the one it acts for; left out, yourself."
    )


class TokenShape(serializers.ModelSerializer[Token]):
    """A token, without its secret."""

    id = serializers.UUIDField(source="uuid")
    role = RoleField()
    scopes = serializers.ListField(child=serializers.ChoiceField(SCOPE_NAMES))
    acts_for = serializers.CharField(source="user")

    class Meta:
        model = Token
        fields = [
            "id",
            "name",
            "acts_for",
            "role",
            "scopes",
            "last_four",
            "created_at",
            "last_used_at",
            "expires_at",
            "revoked_at",
        ]
        read_only_fields = fields


class NewTokenShape(TokenShape):
    """A token that was just made, with its secret."""

    secret = serializers.CharField(help_text="Shown this once.")

    class Meta(TokenShape.Meta):
        fields = [*TokenShape.Meta.fields, "secret"]
        read_only_fields = fields


class AuditQuery(PageQuery):
    """Which entries are listed; texts are parts of what they look for."""

    who = TextField(required=False, max_length=200)
    action = TextField(required=False, max_length=200)
    object = TextField(required=False, max_length=200, help_text="Name, type or id.")
    since = serializers.DateTimeField(required=False)
    before = serializers.DateTimeField(required=False)


class AuditEntryShape(serializers.ModelSerializer[AuditEntry]):
    """Who changed what; `old`, `new` and `object` are null while they are hidden."""

    who = serializers.CharField(source="actor_name")
    object_type = serializers.CharField(source="target_type")
    object_id = serializers.CharField(source="target_id")
    object = serializers.SerializerMethodField()
    old = serializers.SerializerMethodField()
    new = serializers.SerializerMethodField()
    address = serializers.CharField(allow_null=True, help_text="Where the request came from.")

    class Meta:
        model = AuditEntry
        fields = [
            "number",
            "at",
            "who",
            "action",
            "object_type",
            "object_id",
            "object",
            "old",
            "new",
            "address",
            "hash",
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "nullable": True})
    def get_object(self, entry: AuditEntry) -> str | None:
        return None if self._is_hidden(entry) else entry.target_name

    @extend_schema_field({"type": "object", "additionalProperties": {}, "nullable": True})
    def get_old(self, entry: AuditEntry) -> dict[str, Any] | None:
        return None if self._is_hidden(entry) else entry.old

    @extend_schema_field({"type": "object", "additionalProperties": {}, "nullable": True})
    def get_new(self, entry: AuditEntry) -> dict[str, Any] | None:
        return None if self._is_hidden(entry) else entry.new

    def _is_hidden(self, entry: AuditEntry) -> bool:
        is_hidden: bool = self.context["is_hidden"](entry)
        return is_hidden
