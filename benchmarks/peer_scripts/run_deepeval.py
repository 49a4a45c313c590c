"""Three metrics of deepeval over FILE.jsonl, kept in a folder of results."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import ExactMatchMetric, PatternMatchMetric
from deepeval.test_case import LLMTestCase

with Path(sys.argv[1]).open(encoding="utf-8") as lines:
    cases = [
        LLMTestCase(
            input=case["input"], actual_output=case["output"], expected_output=case["expected"]
        )
        for case in map(json.loads, lines)
    ]
evaluate(
    cases,
    [
        ExactMatchMetric(),
        PatternMatchMetric(".*refund.*"),
        PatternMatchMetric(".*(refund|account).*"),  # it has no edit distance
    ],
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(
        show_indicator=False, print_results=False, inspect_after_run=False, results_folder="results"
    ),
    cache_config=CacheConfig(write_cache=False),
)
