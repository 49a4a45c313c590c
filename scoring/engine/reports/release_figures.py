"""The figures of a release report, computed from its attached rows and from nothing else.

Rows are columns of equal length, a place for each case that both runs have: `key`, `trial`, the
verdicts `baseline` and `candidate` (0 pass, 1 fail, 2 error, 3 skipped), and `tags` as places in
`tag_names`. Under `scorers` each of the candidate's scorers has `baseline` and `candidate`, its
scores or null, and `baseline_passed` and `candidate_passed`. Where cases have several trials, these
are of the mean, `trial` is the first, and the verdicts and each scorer have `baseline_share` and
`candidate_share` besides: which share of the trials passes, or null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from scoring.core.stats.corrections import PairTests, ScorerTests, correct_family
from scoring.core.stats.paired_tests import Difference, difference
from scoring.engine.compare.scores import MIN_SLICE_CASES, PassShares, count_flips, flips_p
from scoring.models import Verdict

if TYPE_CHECKING:
    import numpy as np

Rows = Mapping[str, Any]
BOTH_RUNS: Final = ("baseline", "candidate")
STATES: Final = ("open", "accepted", "rejected", "waived")


def rows_digest(rows: Rows) -> str:
    """SHA-256 of the rows as compact JSON with sorted keys."""
    import orjson

    return sha256(orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)).hexdigest()


def compute_figures(rows: Rows) -> dict[str, Any]:
    """Counts, tests and corrected p, named as in the report's `result`.

    Raises KeyError, TypeError or ValueError for rows of another shape.
    """
    import numpy as np

    before, after = (np.asarray(rows[side], int) for side in BOTH_RUNS)
    judged = (before <= Verdict.FAIL) & (after <= Verdict.FAIL)
    flips = count_flips(before[judged] == Verdict.PASS, after[judged] == Verdict.PASS)
    p = flips_p(flips, _shares(rows, judged))
    lost = before > Verdict.FAIL, after > Verdict.FAIL
    scorers = [_scorer(name, columns) for name, columns in _paired_scorers(rows)]
    slices = list(_slices(rows))
    counts = {
        "pairs": len(before),
        "broke": flips.broke,
        "fixed": flips.fixed,
        "unchanged": int(judged.sum()) - flips.broke - flips.fixed,
        "unclear": int((lost[0] ^ lost[1]).sum()),
        "judged_in_neither": int((lost[0] & lost[1]).sum()),
    }
    tests = PairTests(
        [ScorerTests(s["p"], s["flips"]["p"], s.pop("is_one_claim")) for s in scorers],
        p,
        [each["p"] for each in slices],
        rows["has_one_scorer"],
    )
    (corrected,) = correct_family([tests]).pairs
    for scorer, found in zip(scorers, corrected.scorers, strict=True):
        scorer["p_corrected"] = found.mean
        scorer["flips"]["p_corrected"] = found.flips
    return {
        **counts,
        "p": p,
        "p_corrected": corrected.cases,
        "slices_p_corrected": corrected.any_slice,
        "scorers": scorers,
        "slices": slices,
    }


def compute_states(report: Mapping[str, Any]) -> dict[str, int]:
    """How many broken cases are in each state, from the rows, decisions and waivers of a report."""
    rows, day = report["rows"], report["made_at"][:10]
    decided = {(each["key"], each["trial"]): each["state"] for each in report["decisions"]}
    active = {(w["key"], w["scorer"]) for w in report["waivers"] if w["until"] >= day}
    states = dict.fromkeys(STATES, 0)
    for place in _broken_places(rows):
        key = rows["key"][place]
        failing = _failing(rows, place)
        is_waived = bool(failing) and all((key, name) in active for name in failing)
        state = decided.get((key, rows["trial"][place]), "waived" if is_waived else "open")
        states[state] += 1
    return states


def describe_risk(report: Mapping[str, Any]) -> list[str]:
    """What remains uncertain or unsettled, a sentence each."""
    result, states, run = report["result"], report["states"], report["run"]
    detectable = [s["detectable"] for s in result["scorers"] if s["detectable"] is not None]
    noise = [s["name"] for s in result["scorers"] if s["noise"] and _is_within(s)]
    untested = result["unclear"] + result["judged_in_neither"]
    numbers = {
        "Broken cases that are open": states["open"],
        "Broken cases that were rejected": states["rejected"],
        "Broken cases that are waived and still fail": states["waived"],
        "Cases with an error or a skip in one of the runs, not compared": untested,
        "Cases of the baseline without an output in the run": result["only_baseline"],
        "Cases of the dataset version without an output in the run": run["missing_outputs"],
    }
    risks = [f"{text}: {count:,}." for text, count in numbers.items() if count]
    if detectable:
        size = max(detectable)
        risks.append(f"A change of a mean below {size:.3f} would have been missed (80 % power).")
    if noise:
        risks.append(f"The difference of {', '.join(noise)} lies within the judge's noise.")
    return [*risks, *result["warnings"]]


def _is_within(scorer: Mapping[str, Any]) -> bool:
    """Whether the scorer's difference is no larger than what its judge moves by itself."""
    return scorer["delta"] is not None and abs(scorer["delta"]) <= scorer["noise"]


def _paired_scorers(rows: Rows) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Those that both runs have."""
    for name, columns in rows["scorers"].items():
        if columns["baseline"] is not None:
            yield name, columns


def _scores(columns: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both scores of each case, NaN where there is none, and which cases have both."""
    import numpy as np

    before, after = (np.asarray(columns[side], float) for side in BOTH_RUNS)
    return before, after, ~(np.isnan(before) | np.isnan(after))


def _shares(columns: Mapping[str, Any], chosen: np.ndarray) -> PassShares | None:
    """Of the chosen cases those of the trials that pass; None where cases have one trial."""
    import numpy as np

    if f"{BOTH_RUNS[0]}_share" not in columns:
        return None
    before, after = (np.asarray(columns[f"{side}_share"], float)[chosen] for side in BOTH_RUNS)
    return PassShares(np.flatnonzero(chosen), before, after)


def _scorer(name: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    import numpy as np

    *sides, both = _scores(columns)
    scores = [side[both] for side in sides]
    passed = [np.asarray(columns[f"{side}_passed"], bool)[both] for side in BOTH_RUNS]
    change, flips, shares = difference(*scores), count_flips(*passed), _shares(columns, both)
    of_verdicts = (shares.before, shares.after) if shares else passed
    return {
        "name": name,
        "n": change.n,
        "means": [float(each.mean()) for each in scores] if change.n else None,
        "delta": change.mean,
        "interval": list(change.interval) if change.interval else None,
        "p": change.p,
        "flips": {
            "n": flips.n,
            "broke": flips.broke,
            "fixed": flips.fixed,
            "p": flips_p(flips, shares),
        },
        "is_one_claim": all(
            bool((one == other).all()) for one, other in zip(scores, of_verdicts, strict=True)
        ),
    }


def _slices(rows: Rows) -> Iterator[dict[str, Any]]:
    """Each tag and scorer with at least MIN_SLICE_CASES cases."""
    import numpy as np

    for number, tag in enumerate(rows["tag_names"]):
        has_tag = np.asarray([number in tags for tags in rows["tags"]], bool)
        for name, columns in _paired_scorers(rows):
            before, after, both = _scores(columns)
            chosen = both & has_tag
            found: Difference = difference(before[chosen], after[chosen])
            if found.n >= MIN_SLICE_CASES:
                yield {
                    "tag": tag,
                    "scorer": name,
                    "n": found.n,
                    "delta": found.mean,
                    "p": found.p or 0.0,
                }


def _broken_places(rows: Rows) -> Iterator[int]:
    verdicts = zip(rows["baseline"], rows["candidate"], strict=True)
    return (place for place, both in enumerate(verdicts) if both == (Verdict.PASS, Verdict.FAIL))


def _failing(rows: Rows, place: int) -> list[str]:
    """The scorers that fail the candidate's output."""
    return [
        name
        for name, columns in rows["scorers"].items()
        if columns["candidate"][place] is not None and not columns["candidate_passed"][place]
    ]
