"""A secret opens only with the key and the purpose that it was encrypted for."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from scoring.models.encryption import DecryptionError, decrypt, encrypt
from tests.models.scorers.test_connection import KEY, URL


@pytest.mark.parametrize("secret", ["", "sk-1", "ключ", "a" * 5000])
def test_a_secret_opens_only_with_what_it_is_bound_to(secret: str) -> None:
    token = encrypt(secret, URL)
    assert decrypt(token, URL) == secret
    assert secret == "" or secret not in token
    for other in (URL + "/", "", "https://evil.example/v1"):
        with pytest.raises(DecryptionError, match="for something else"):
            decrypt(token, other)


def test_the_same_secret_never_looks_the_same() -> None:
    assert encrypt(KEY, URL) != encrypt(KEY, URL)


@pytest.mark.parametrize("token", ["", "nonsense", "gAAAAAB" + "A" * 90])
def test_a_damaged_token_does_not_open(token: str) -> None:
    with pytest.raises(DecryptionError, match="another encryption key, or damaged"):
        decrypt(token, URL)


def test_another_encryption_key_opens_nothing(settings: Settings) -> None:
    token = encrypt(KEY, URL)
    settings.EVALSITE_ENCRYPTION_KEY = "another one that is long enough to be taken for a key"
    with pytest.raises(DecryptionError):
        decrypt(token, URL)
