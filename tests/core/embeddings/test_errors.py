"""Whoever waits for any service hears of missing vectors as well, and whether to try again."""

from __future__ import annotations

import pytest

from scoring.core.contract import ServiceError
from scoring.core.embeddings.errors import EmbeddingError


@pytest.mark.parametrize("retry", [True, False])
def test_missing_vectors_are_a_fault_of_a_service(retry: bool) -> None:
    with pytest.raises(ServiceError, match="no key") as raised:
        raise EmbeddingError("no_key", "no key", retry=retry)
    assert isinstance(raised.value, EmbeddingError)
    assert (raised.value.code, raised.value.retry) == ("no_key", retry)


def test_nothing_is_tried_again_unless_asked() -> None:
    assert not EmbeddingError("no_key", "no key").retry
