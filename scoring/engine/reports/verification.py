"""Release reports verified: their figures computed again from the attached rows."""

from __future__ import annotations

import gzip
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping
from math import isclose
from pathlib import Path
from typing import Any, Final, NamedTuple

from scoring.engine.reports.release_figures import (
    compute_figures,
    compute_states,
    describe_risk,
    rows_digest,
)
from scoring.engine.reports.release_report import FORMAT, VERSION, render_release_report

READ_VERSIONS: Final = (1, VERSION)
MAX_BYTES: Final = 1_000_000_000  # unpacked
_PACKED: Final = re.compile(r'<template id="release-data">([A-Za-z0-9+/=\s]*)</template>')
_BODY: Final = re.compile(r"<main.*?</main>", re.DOTALL)


class UnreadableReportError(Exception):
    """The file is no release report; the text says why."""


class Verified(NamedTuple):
    """How many figures were compared, over how many rows, and what differs."""

    figures: int
    rows: int
    faults: list[str]


def verify_file(path: Path) -> Verified:
    """Verify a report, JSON or HTML. Raises UnreadableReportError, or OSError."""
    text = path.read_bytes().decode("utf-8", "replace")
    is_html = text.lstrip()[:1] == "<"
    report = _read_report(_unpack(text) if is_html else text)
    try:
        figures, faults = _compare_figures(report)
        if is_html and _body_of(text) != _body_of(render_release_report(report)):
            faults.append("the page does not show what its data say")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as fault:
        raise UnreadableReportError(f"its data have another shape: {fault!r}") from None
    return Verified(figures, len(report["rows"]["key"]), faults)


def _unpack(text: str) -> bytes:
    """The data that an HTML report carries."""
    found = _PACKED.search(text)
    if not found:
        raise UnreadableReportError("the page carries no data of a release report")
    try:
        data = gzip.decompress(b64decode(found[1]))
    except (ValueError, OSError, EOFError, zlib.error) as fault:
        raise UnreadableReportError(f"its data cannot be unpacked: {fault}") from None
    if len(data) > MAX_BYTES:
        raise UnreadableReportError(f"its data are over {MAX_BYTES:,} bytes")
    return data


def _read_report(text: str | bytes) -> dict[str, Any]:
    import orjson

    try:
        report = orjson.loads(text)
    except orjson.JSONDecodeError as fault:
        raise UnreadableReportError(f"it is not JSON: {fault}") from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise UnreadableReportError("it is not a release report of Evalsite")
    version = report.get("version")
    if version not in READ_VERSIONS:
        told = f"it has the version {version}"
        raise UnreadableReportError(f"{told}; this Evalsite reads versions 1 and {VERSION}")
    if version == 1 and _counts_trials(report):
        raise UnreadableReportError(
            "it counts each trial of a case, as version 1 did; verify it by the Evalsite it is from"
        )
    return report


def _counts_trials(report: Mapping[str, Any]) -> bool:
    """Whether its rows hold several trials of a case."""
    try:
        keys = report["rows"]["key"]
        return len(set(keys)) < len(keys)
    except (KeyError, TypeError):
        return False  # told with all else that has another shape


def _compare_figures(report: dict[str, Any]) -> tuple[int, list[str]]:
    """How many figures were compared, and the names of those that differ with both values."""
    faults: list[str] = []
    computed = {
        "rows_sha256": rows_digest(report["rows"]),
        "result": compute_figures(report["rows"]),
        "states": compute_states(report),
        "risk": describe_risk(report),
    }
    compared = 0
    for name, told, found in _pairs("", report, computed):
        compared += 1
        if not _is_same(told, found):
            faults.append(f"{name} is {told!r} in the report and {found!r} by its rows")
    return compared, faults


def _pairs(name: str, told: Any, found: Any) -> Iterator[tuple[str, Any, Any]]:
    """Each computed figure beside what the report says of it."""
    if isinstance(found, Mapping):
        for key, value in found.items():
            inner = told[key] if isinstance(told, Mapping) else None
            yield from _pairs(f"{name}.{key}".lstrip("."), inner, value)
    elif isinstance(found, list) and isinstance(told, list):
        yield f"{name} (count)", len(told), len(found)
        for number, (left, right) in enumerate(zip(told, found, strict=False), 1):
            yield from _pairs(f"{name}[{number}]", left, right)
    else:
        yield name, told, found


def _is_same(told: Any, found: Any) -> bool:
    if isinstance(told, float | int) and isinstance(found, float | int):
        return isclose(told, found, rel_tol=1e-9, abs_tol=1e-12)
    return bool(told == found)


def _body_of(text: str) -> str:
    found = _BODY.search(text)
    return found[0] if found else ""
