"""What the worker goes through with a comparison, and what share of the whole each part takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scoring.engine.jobs.progress import Stage
from scoring.models.pairs.pairs import Pairs

#: Processor seconds that each stage takes for a million pairs, within one dataset version and
#: between two; only their ratios count.
MATCHING: Final = (1.8, 3.1)
COUNTING: Final = (0.8, 2.3)
SCORING: Final = (1.7, 1.7)
KEEPING: Final = (0.2, 1.4)


def comparison_stages(pairs: Pairs, scorers: Sequence[str]) -> Iterator[Stage]:
    """In the order in which they are gone through; of the scorers that both runs have, by name."""
    version = 0 if pairs.is_same_version else 1
    yield Stage("matching cases", MATCHING[version])
    yield Stage("counting what changed", COUNTING[version])
    for number, name in enumerate(scorers, 1):
        yield Stage(f"scores of {name}, scorer {number} of {len(scorers)}", SCORING[version])
    yield Stage("noting where changes stand", KEEPING[version])
