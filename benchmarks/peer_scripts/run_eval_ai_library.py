"""Three metrics of Eval-ai-library over FILE.jsonl, kept in the file that its dashboard reads."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from eval_lib import EvalTestCase, evaluate
from eval_lib.deterministic_metrics import ContainsMetric, ExactMatchMetric, RegexMatchMetric

with Path(sys.argv[1]).open(encoding="utf-8") as lines:
    cases = [
        EvalTestCase(
            input=case["input"], actual_output=case["output"], expected_output=case["expected"]
        )
        for case in map(json.loads, lines)
    ]
metrics = [
    ExactMatchMetric(),
    ContainsMetric(keywords=["refund"], case_sensitive=True),
    RegexMatchMetric(pattern="refund"),  # it has no edit distance
]
asyncio.run(evaluate(cases, metrics, verbose=False, show_dashboard=True))
