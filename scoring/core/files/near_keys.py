"""Keys that are nearly those of known cases, as spreadsheets and other systems change them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final
from unicodedata import normalize

_LEADING_ZEROS: Final = re.compile(r"(?<![\d.])0+(?=\d)")
_NO_FRACTION: Final = re.compile(r"^(\d+)\.0+$")


def fold_key(key: str) -> str:
    """What stays of a key when case, Unicode form, outer space, zeros before a number or a ".0"
    after it are lost.
    """
    folded = normalize("NFKC", normalize("NFKC", key).casefold()).strip()
    return _NO_FRACTION.sub(r"\1", _LEADING_ZEROS.sub("", folded))


def find_near_keys(unknown: Collection[str], known: Iterable[str]) -> dict[str, str]:
    """The first known key that is nearly the unknown one, by the unknown keys that have one."""
    by_fold: dict[str, list[str]] = {}
    for key in unknown:
        by_fold.setdefault(fold_key(key), []).append(key)
    near: dict[str, str] = {}
    for key in known:
        for other in by_fold.get(fold_key(key), ()):
            near.setdefault(other, key)
    return {key: near[key] for key in unknown if key in near}
