"""Bodies are read up to a size, and only as what they should be."""

from __future__ import annotations

import io
from typing import Any

import pytest

from evalsite.api.errors import Problem
from evalsite.api.parsers import (
    StrictJson,
)


@pytest.mark.parametrize(
    ("body", "limit", "code"),
    [
        (b'{"a": 1}', 8, None),
        (b'\xef\xbb\xbf{"a": 1}', 99, None),
        (b'{"a": 1}', 7, "too_large"),
        (b'{"a": "\xff"}', 99, "encoding"),
    ],
)
def test_json_is_read_up_to_a_size_and_as_utf_8(
    settings: Any, body: bytes, limit: int, code: str | None
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = limit
    if code is None:
        assert StrictJson().parse(io.BytesIO(body)) == {"a": 1}
        return
    with pytest.raises(Problem) as refused:
        StrictJson().parse(io.BytesIO(body))
    assert refused.value.code == code
