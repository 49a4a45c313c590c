"""The encrypted URL and secret of a webhook, and what of them may be shown."""

from __future__ import annotations

import hashlib
import secrets
from base64 import b64encode
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models

from scoring.core.llm.ssrf_guard import RefusedError, check_url
from scoring.models.base import AddressedRow
from scoring.models.encryption import DecryptionError, decrypt, encrypt

MAX_URL_CHARS: Final = 500
HIDDEN_CHARS: Final = 12  # of a path that is shorter, the last four would tell too much


class WebhookFormat(models.TextChoices):
    """What a webhook's receiver reads."""

    JSON = "json", "JSON"
    SLACK = "slack", "Slack"
    TEAMS = "teams", "Microsoft Teams"


class WebhookRow(AddressedRow):
    """A row with a webhook, or with none.

    The URL is encrypted and bound to the row, the secret that calls are signed with to the URL:
    another URL gets another secret.
    """

    encrypted_webhook = models.TextField(blank=True, default="", editable=False)
    webhook_host = models.CharField(max_length=255, blank=True, default="", editable=False)
    webhook_last_four = models.CharField(max_length=4, blank=True, default="", editable=False)
    encrypted_secret = models.TextField(blank=True, default="", editable=False)
    webhook_format = models.CharField(
        max_length=10, choices=WebhookFormat.choices, default=WebhookFormat.JSON
    )

    class Meta:
        abstract = True

    @property
    def has_webhook(self) -> bool:
        return bool(self.encrypted_webhook)

    @property
    def webhook_url(self) -> str:
        """Where messages are posted, "" for nowhere. Raises DecryptionError."""
        return decrypt(self.encrypted_webhook, self._binding) if self.encrypted_webhook else ""

    @webhook_url.setter
    def webhook_url(self, url: str) -> None:
        self.encrypted_webhook = encrypt(url, self._binding) if url else ""
        self.webhook_host, rest = _host_and_rest(url)
        self.webhook_last_four = rest[-4:] if len(rest) >= HIDDEN_CHARS else ""

    @property
    def webhook_shown(self) -> str:
        """What may be shown of the URL: its host and its last four characters."""
        end = f" …{self.webhook_last_four}" if self.webhook_last_four else ""
        return f"{self.webhook_host}{end}"

    @property
    def webhook_target(self) -> str:
        """What a message stores of its webhook: another URL has another target."""
        digest = hashlib.sha256(self.encrypted_webhook.encode()).hexdigest()[:16]
        return f"{self.webhook_shown}|{digest}"

    def secret(self) -> str:
        """The secret that signs the webhook's calls. Raises DecryptionError."""
        return decrypt(self.encrypted_secret, self.webhook_url)

    @property
    def can_decrypt_secret(self) -> bool:
        """Whether URL and secret, if there is a webhook, can still be read."""
        try:
            return not self.has_webhook or bool(self.secret())
        except DecryptionError:
            return False

    @property
    def _binding(self) -> str:
        return f"alert_rule:{self.uuid}"

    def _new_secret(self) -> str:
        """Written as the specification Standard Webhooks says. Raises DecryptionError."""
        secret = f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"
        self.encrypted_secret = encrypt(secret, self.webhook_url)
        return secret

    def _copy_webhook(self, other: WebhookRow) -> None:
        for name in ("encrypted_webhook", "webhook_host", "webhook_last_four"):
            setattr(self, name, getattr(other, name))

    def _is_webhook(self, url: str) -> bool:
        """Whether the row has this very URL, with a secret, and both can be read."""
        return self.has_webhook and self.can_decrypt_secret and self.webhook_url == url


def mask_target(target: str) -> str:
    """What may be shown of a `webhook_target`."""
    return target.partition("|")[0]


def webhook_problem(url: str) -> str:
    """Why the URL may not be called; "" where it may. Asks no name server."""
    if len(url) > MAX_URL_CHARS:
        return f"The URL has {len(url):,} characters; {MAX_URL_CHARS} are possible."
    try:
        check_url(url, settings.EVALSITE_WEBHOOK_HOSTS, is_base=False)
    except RefusedError as refused:
        return refused.text
    return ""


def _host_and_rest(url: str) -> tuple[str, str]:
    """A URL's host, which everybody may see, and what follows it, which may be a secret."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "")[:255], f"{parts.path}{parts.query}"
    except ValueError:  # it will be refused
        return "", ""
