"""Three of autoevals' scorers over FILE.jsonl. It neither runs nor stores, so this writes lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from autoevals import ExactMatch, Levenshtein

exact, alike = ExactMatch(), Levenshtein()
with Path(sys.argv[1]).open(encoding="utf-8") as lines, Path("results.jsonl").open("w") as results:
    for line in lines:
        case = json.loads(line)
        output, expected = case["output"], case["expected"]
        scores = {
            "exact": exact.eval(output=output, expected=expected).score,
            "includes": float("refund" in output),  # there is no such scorer
            "levenshtein": alike.eval(output=output, expected=expected).score,
        }
        results.write(json.dumps({**case, "scores": scores}) + "\n")
