"""Outputs and results as tuples of database values."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, TypeGuard

import orjson

from scoring.core.contract import Json, Result
from scoring.core.json_text import replace_unstorable
from scoring.models.runs.score import Status, Verdict

METADATA_BYTES: Final = 1_024
REASON_CHARACTERS: Final = 500
CODE_CHARACTERS: Final = 40
PARTS: Final = "children"  # of a combination, in its metadata
#: The metadata of a part of a combination that explain its score best; fewer from step to step.
_EXPLAINING: Final = frozenset(
    {"code", "choice", "number", "attempts", "refs", "winner", "references", "answer", "answers"}
)
_KEPT_OF_PARTS: Final = (_EXPLAINING | {"similarities"}, _EXPLAINING, frozenset[str]())
#: What a score's metadata may hold of itself once the output's text is removed.
_NOT_QUOTED: Final = frozenset({"code", "choice", "model", "refs"})
_LEVELS: Final = ((200, 5), (80, 3), (40, 2), (20, 1))  # characters of a text, items of a list

OutputRow = tuple[Any, ...]  # OUTPUT_COLUMNS
ScoreRow = tuple[int, int, int, float | None, int | None, str, str, str]  # SCORE_COLUMNS

OUTPUT_COLUMNS: Final = (
    "output_set_id",
    "case_id",
    "trial",
    "text",
    "is_json",
    "error",
    "latency_ms",
    "tokens_in",
    "tokens_out",
    "cost_usd",
)
SCORE_COLUMNS: Final = (
    "scorer_id",
    "output_id",
    "status",
    "score",
    "verdict",
    "code",
    "reason",
    "metadata_json",
)
VERDICT_COLUMNS: Final = (
    "run_id",
    "output_id",
    "position",
    "trial",
    "verdict",
    "missing_expected",
)

_STATUS: Final = {"scored": 0, "error": 1, "skipped": 2}
_VERDICT: Final = {"pass": 0, "fail": 1, None: None}

#: How much a score weighs in its case's verdict: fail over error over pass over skipped.
RANK: Final[Mapping[tuple[int, int | None], int]] = {
    (Status.SKIPPED, None): 0,
    (Status.SCORED, Verdict.PASS): 1,
    (Status.ERROR, None): 2,
    (Status.SCORED, Verdict.FAIL): 3,
}
VERDICT_OF_RANK: Final = (Verdict.SKIPPED, Verdict.PASS, Verdict.ERROR, Verdict.FAIL)


def score_rows(
    scorer_id: int, output_ids: Sequence[int], results: Sequence[Result]
) -> list[ScoreRow]:
    """One scorer's results for these outputs, in their order."""
    return [
        (
            scorer_id,
            output,
            _STATUS[status],
            score,
            _VERDICT[verdict],
            _code(metadata) if metadata else "",
            clean_reason(reason) if reason else "",
            metadata_text(metadata) if metadata else "{}",
        )
        for output, (status, score, verdict, reason, metadata) in zip(
            output_ids, results, strict=True
        )
    ]


def case_verdicts(columns: Sequence[Sequence[ScoreRow]]) -> list[int]:
    """The verdict on each output; every column holds one scorer's rows in the same order."""
    ranks = [[RANK[row[2], row[4]] for row in column] for column in columns]
    return [VERDICT_OF_RANK[max(case)].value for case in zip(*ranks, strict=True)]


def missing_expected(columns: Sequence[Sequence[ScoreRow]]) -> set[int]:
    """The outputs whose case lacked the expected value a scorer needs."""
    return {row[1] for column in columns for row in column if row[5] == "expected_missing"}


def metadata_text(metadata: Mapping[str, Json]) -> str:
    """Compact JSON of at most METADATA_BYTES; what had to be cut says `"trimmed": true`.

    A number that is not finite becomes null, and NUL, which no `jsonb` holds, is replaced.
    """
    text = _json(metadata)
    if rb"\u0000" in text:
        metadata = replace_unstorable(_plain(metadata))
        text = _json(metadata)
    if len(text) <= METADATA_BYTES:
        return text.decode()
    for cut in _cuts(metadata):
        text = _json({**cut, "trimmed": True})
        if len(text) <= METADATA_BYTES:
            return text.decode()
    code = {"code": _code(metadata)} if "code" in metadata else {}
    return _json({**code, "trimmed": True}).decode()


def without_quotations(metadata: Mapping[str, Json]) -> str:
    """As `metadata_text`, with nothing that quotes the output: codes, choices and parts' scores."""
    kept = {name: metadata[name] for name in metadata if name in _NOT_QUOTED}
    parts = _part_scores(metadata, _NOT_QUOTED) if _has_parts(metadata) else {}
    return metadata_text({**kept, **parts, "trimmed": True})


def _cuts(metadata: Mapping[str, Json]) -> Iterator[dict[str, Any]]:
    """Shorter and shorter copies. The parts of a combination are cut last, down to their scores."""
    if _has_parts(metadata):
        yield from (_cut(metadata, *level, whole=PARTS) for level in _LEVELS)
        yield from (_part_scores(metadata, names) for names in _KEPT_OF_PARTS)
    yield from (_cut(metadata, *level) for level in _LEVELS)


def _has_parts(metadata: Json) -> TypeGuard[Mapping[str, Json]]:
    parts = metadata.get(PARTS) if isinstance(metadata, Mapping) else None
    return isinstance(parts, list) and all(
        isinstance(part, Mapping) and "name" in part and "status" in part for part in parts
    )


def _part_scores(metadata: Mapping[str, Json], names: Collection[str]) -> dict[str, Any]:
    """What the parts of a combination scored, to any depth, with the metadata of these names."""
    code = {"code": metadata["code"]} if "code" in metadata else {}
    return {**code, PARTS: [_part_score(part, names) for part in metadata[PARTS]]}


def _part_score(part: Mapping[str, Json], names: Collection[str]) -> dict[str, Any]:
    score = {name: part[name] for name in ("name", "status", "score", "verdict") if name in part}
    inner = part.get("metadata")
    if _has_parts(inner):
        return {**score, "metadata": _part_scores(inner, names)}
    explained = {name: inner[name] for name in inner if name in names} if inner else {}
    return {**score, "metadata": explained} if explained else score


def _json(value: Json) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a custom scorer may put anything there
        plain = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
        return plain.encode("utf-8", "replace")


def _plain(value: Any) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _cut(value: Json, characters: int, items: int, *, whole: str = "") -> Any:
    """Texts and lists cut; the lists under one name keep all their items."""
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]}…"
    if isinstance(value, Mapping):
        return {
            key: [_cut(item, characters, items, whole=whole) for item in part]
            if key == whole and isinstance(part, list)
            else _cut(part, characters, items, whole=whole)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_cut(part, characters, items, whole=whole) for part in value[:items]]
    return value


def _code(metadata: Mapping[str, Json]) -> str:
    return _clean(str(metadata.get("code", "")))[:CODE_CHARACTERS]


def clean_reason(reason: str) -> str:
    """The reason as rows keep it: whole characters, and not too many of them."""
    if len(reason) > REASON_CHARACTERS:
        reason = f"{reason[: REASON_CHARACTERS - 1]}…"
    return _clean(reason)


def _clean(text: str) -> str:
    """The text as every database stores it: no NUL and no lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
