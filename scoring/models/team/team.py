"""Users, teams, roles and API tokens."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.contenttypes.models import ContentType
from django.core import signing
from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from scoring.models.base import AddressedRow, validate_name


class Role(models.IntegerChoices):
    """What a member may do; a larger role may do all that a smaller one may."""

    VIEWER = 1, "viewer"
    REVIEWER = 2, "reviewer"
    EDITOR = 3, "editor"
    ADMIN = 4, "admin"


class UserManager(BaseUserManager["User"]):
    """Makes users from an e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> User:
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> User:
        """Audited, because Django's command for it calls nothing else."""
        audit_entries = apps.get_model("scoring", "AuditEntry").objects
        with transaction.atomic():
            user = self.create_user(email, password, is_staff=True, is_superuser=True, **fields)
            new = {"email": user.email, "is_superuser": True}
            audit_entries.record(None, None, "user.created", user, new=new)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """A person, who signs in by e-mail."""

    email = models.EmailField("e-mail", unique=True)
    name = models.CharField(max_length=100, blank=True, validators=[validate_name])
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField("may use the Django admin", default=False)
    is_service = models.BooleanField(
        "service account",
        default=False,
        help_text="Acts for a team through tokens alone, and is not active: it cannot sign in.",
    )
    date_joined = models.DateTimeField(default=timezone.now)
    #: How many times all sessions of the person were ended.
    session_epoch = models.PositiveIntegerField(default=0, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    #: The token this request was signed in with; it narrows teams and role. Not stored.
    token: Token | None = None

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    def __str__(self) -> str:
        return self.name or self.email

    def end_sessions(self) -> None:
        """Sign the person out everywhere, at their next request."""
        User.objects.filter(pk=self.pk).update(session_epoch=models.F("session_epoch") + 1)

    def get_session_auth_hash(self) -> str:
        """Django ends a session that was begun with another one."""
        own = super().get_session_auth_hash()
        if not self.session_epoch:
            return own
        salt, value = "evalsite.session_epoch", f"{own}:{self.session_epoch}"
        return salted_hmac(salt, value, algorithm="sha256").hexdigest()


class TeamQuerySet(models.QuerySet["Team"]):
    def of(self, user: User) -> Self:
        """The teams this person is a member of, by name; through a token only the token's."""
        teams = self.filter(members__user=user).order_by("name")
        return teams.filter(pk=user.token.team_id) if user.token else teams

    def lock(self, team: Team) -> Team:
        """The team's row, which nobody else locks or changes until the transaction ends."""
        return self.select_for_update(no_key=True).get(pk=team.pk)


class Team(AddressedRow):
    """The people who share datasets, runs and scorers; nobody else sees them."""

    name = models.CharField(max_length=100, validators=[validate_name])
    slug = models.SlugField(max_length=60, unique=True)

    objects = TeamQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class MemberQuerySet(models.QuerySet["Member"]):
    def people(self) -> Self:
        """The members who are no service accounts, by name and e-mail address."""
        people = self.filter(user__is_service=False).select_related("user")
        return people.order_by("user__name", "user__email")

    def service_accounts(self) -> Self:
        """The members that are no people, by name."""
        return self.filter(user__is_service=True).select_related("user").order_by("user__name")

    def administrators(self) -> Self:
        """The people who may sign in and administer the team."""
        return self.people().filter(role=Role.ADMIN, user__is_active=True)


class Member(models.Model):
    """A person's role in a team.

    `from_groups` says that groups of single sign-on gave it, and take it.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="members")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=Role.VIEWER)
    joined_at = models.DateTimeField(auto_now_add=True)
    from_groups = models.BooleanField(default=False, editable=False)

    objects = MemberQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="member_once")]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()}"


class Scope(models.TextChoices):
    """What a token is for; what it may do there, its role says."""

    READ = "read", "read"
    SCORE = "score", "score"
    UPLOAD = "upload", "upload"
    REVIEW = "review", "review"
    ADMIN = "admin", "admin"


def all_scopes() -> list[str]:
    return list(Scope.values)


class TokenQuerySet(models.QuerySet["Token"]):
    def issue(
        self,
        team: Team,
        user: User,
        name: str,
        role: Role = Role.EDITOR,
        *,
        scopes: Iterable[str] = tuple(Scope.values),
        expires_at: datetime | None = None,
    ) -> tuple[Token, str]:
        """A new token row and its secret, which is shown once and stored only as a hash."""
        secret = f"evs_{secrets.token_urlsafe(32)}"
        token = self.create(
            team=team,
            user=user,
            name=name,
            role=role,
            scopes=list(scopes),
            expires_at=expires_at,
            digest=Token.digest_of(secret),
            last_four=secret[-4:],
        )
        return token, secret

    def for_list(self, team: Team) -> Self:
        """The team's, the newest first, with whom they act for."""
        return self.filter(team=team).select_related("user").order_by("-pk")

    def in_force(self) -> Self:
        """Those that are neither revoked nor expired."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, revoked_at=None)

    def usable(self, secret: str) -> Token | None:
        """The token with this secret, unless revoked, expired or its owner left."""
        may_act = models.Q(user__is_active=True) | models.Q(user__is_service=True)
        tokens = self.in_force().filter(may_act, digest=Token.digest_of(secret))
        of_members = tokens.filter(team__members__user=models.F("user"))
        return of_members.select_related("team", "user").first()


class Token(AddressedRow):
    """Lets a program act in one team, with at most `role`, in a member's name."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="tokens")
    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, validators=[validate_name])
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=Role.EDITOR)
    scopes = models.JSONField(default=all_scopes)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = TokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} (…{self.last_four})"

    @property
    def is_in_force(self) -> bool:
        """Whether it is neither revoked nor expired."""
        is_expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return self.revoked_at is None and not is_expired

    def note_use(self) -> None:
        """Keep when the token was last used, written at most once a minute."""
        now = timezone.now()
        if self.last_used_at is None or self.last_used_at < now - timedelta(minutes=1):
            self.last_used_at = now
            self.save(update_fields=["last_used_at"])

    def revoke(self, by: User | None) -> None:
        """End the token for good; whoever uses it is refused at the next request."""
        audit_entries = apps.get_model("scoring", "AuditEntry").objects
        with transaction.atomic():
            now = timezone.now()
            if Token.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now):
                self.revoked_at = now
                audit_entries.record(self.team, by, "token.revoked", self)

    @staticmethod
    def digest_of(secret: str) -> str:
        """SHA-256 is enough: the secret is 256 random bits, not a password."""
        return hashlib.sha256(secret.encode()).hexdigest()


SETUP_LINK_HOURS = 24
DEMO_DOMAIN = "demo.invalid"  # of the e-mail addresses of the demo's people


def has_accounts() -> bool:
    """Whether there is anybody but the people of the demo, who are inactive."""
    return User.objects.exclude(email__endswith=f"@{DEMO_DOMAIN}", is_active=False).exists()


def setup_token() -> str | None:
    """The secret part of the one-time set-up link; None once anybody can sign in."""
    if has_accounts():
        return None
    return signing.dumps("set up this site", salt="evalsite.setup")


def is_setup_token_valid(token: str) -> bool:
    """Whether the link may still make the first user: nobody exists yet and it is not too old."""
    try:
        signing.loads(token, salt="evalsite.setup", max_age=SETUP_LINK_HOURS * 3600)
    except signing.BadSignature:
        return False
    return not has_accounts()


class AlreadySetUpError(Exception):
    """Somebody can sign in already."""


def lock_setup() -> None:
    """Keep everybody else from setting the site up until this transaction ends.

    Locks a row that every site has; SQLite has one writer anyway. Raises AlreadySetUpError.
    """
    ContentType.objects.select_for_update().get(app_label="scoring", model="user")
    if has_accounts():
        raise AlreadySetUpError
