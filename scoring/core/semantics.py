"""What each scorer type means, in sentences, for its help page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Of every type that compares with an expected value.
NEEDS_EXPECTED: Final = (
    "A case without an expected value takes `default_expected`; without that too it fails "
    "whatever the threshold, with the code `expected_missing`. An empty text is a value, "
    "not a missing one."
)
TAKES_PARTS: Final = (
    "`target_output_key` compares a part of a JSON output: a key, a path such as "
    "`result.items[0].name`, or several keys."
)
READS_JSON: Final = "An output that is not valid JSON scores 0 and fails whatever the threshold."
NEGATES: Final = "`negate` turns the score round; results that fail whatever the threshold stay."
JUDGES: Final = (
    "A reply that is empty, cut off, unreadable or off the scale is an error, a refusal "
    "is skipped; neither is ever a score. What stands in the case is shown to the judge "
    "as data, and no instruction in it is followed. Equal questions are asked once and "
    "paid once."
)
COMBINES: Final = (
    "A part that errors makes the whole an error that names it; a part that is skipped is "
    "left out. Parts nest to depth eight."
)

SEMANTICS: Final[Mapping[str, tuple[str, ...]]] = {
    "exact_match": (
        "Both values are compared by their text: a number by its shortest decimal "
        "form, an object or a list as compact JSON with sorted keys. So the text 4 "
        "equals the number 4.",
        "With `classes` the run's page has a confusion matrix with precision, recall and F1.",
        NEEDS_EXPECTED,
        TAKES_PARTS,
        NEGATES,
    ),
    "includes": (
        "The expected text has to be somewhere in the output; upper and lower case "
        "differ unless `case_sensitive` is off.",
        "`values` replace the expected value: all of them must be there, or with `mode` any, one.",
        NEEDS_EXPECTED,
        TAKES_PARTS,
        NEGATES,
    ),
    "regex": (
        "The pattern is searched anywhere in the output, with JavaScript's meaning of "
        "the flags; a literal such as `/yes|no/i` may be pasted.",
        "Most patterns run in linear time. Those with look-around or back-references "
        "run on a second engine for at most a second, and then are an error with the "
        "code `pattern_timeout`.",
        TAKES_PARTS,
        NEGATES,
    ),
    "levenshtein": (
        "The score is 1 - distance / longer length, counted in Unicode code points. "
        "Two empty texts score 1.",
        "Texts are lower-cased unless `case_sensitive` is on, cut at `max_chars`, and "
        "the score is rounded half up to `decimals` from the exact fraction, before "
        "it meets the threshold.",
        NEEDS_EXPECTED,
        TAKES_PARTS,
    ),
    "json_match": (
        "Both sides are read as JSON and have to be equal: the order of keys is free, "
        "that of items is not; true is not 1, and 1 equals 1.0.",
        READS_JSON,
        "An expected value that is not valid JSON is an error, never a score.",
        NEEDS_EXPECTED,
        TAKES_PARTS,
        NEGATES,
    ),
    "json_similarity": (
        "The score is the credit of all leaves of the expected value over their "
        "number. Keys that only the output has do not count; another type earns "
        "nothing for all leaves below.",
        "A text that is no JSON is one leaf. A text earns its unrounded similarity, a "
        "number 1 - |e - a| / |e|, a boolean and null all or nothing. With "
        "`number_tolerance` a number within that share of the expected one earns all.",
        "Lists are compared by position; with `array_mode` unordered their items are "
        "paired for the most credit, up to 200 of them.",
        "Bands of scores: 1 perfect, from 0.9 very high, from 0.7 good, from 0.5 "
        "moderate, below that low.",
        NEEDS_EXPECTED,
        TAKES_PARTS,
    ),
    "json_schema": (
        "The output is read as JSON and checked against `schema`; without one only "
        "its being JSON counts. No expected value is needed.",
        READS_JSON,
        TAKES_PARTS,
        NEGATES,
    ),
    "numeric": (
        "Without a tolerance the score is 1 - |e - o| / (|e| + |o|), and 1 where both are 0.",
        "With `tolerance` it is 1 inside and 0 outside; with `relative` the tolerance "
        "is a share of the expected number.",
        NEEDS_EXPECTED,
        TAKES_PARTS,
    ),
    "expression": (
        "A CEL expression over `input`, `output`, `output_json`, `expected` and "
        "`metadata`. true is 1, false is 0, a number is the score itself; one outside "
        "0 to 1 is an error.",
        "Beside CEL's own functions there are lower, words, matches, similarity and json.",
        TAKES_PARTS,
    ),
    "reference_match": (
        "Output and references become vectors, and the score is the cosine of the "
        "angle between them, 0 where it is negative: the largest of all references, "
        "or with `aggregation` mean, their mean.",
        "References are the case's own, else those of the config, else the expected value.",
        "An embedding sees topics better than negations: where one matters, add an exact type.",
        NEEDS_EXPECTED,
    ),
    "factuality": (
        "A model says how the output's facts relate to the expected ones: A a subset "
        "(0.4), B a superset (0.6), C the same (1), D in contradiction (0), E "
        "different where it does not matter (1). `choices` sets other scores.",
        JUDGES,
        NEEDS_EXPECTED,
    ),
    "llm_judge": (
        "A model judges the output by your rubric: it picks one of `choices`, each "
        "with a score, or a number on a `range`, mapped to 0 to 1.",
        "With several `samples` the question is asked again, and the scores reduce to "
        "their median, mean, or majority.",
        JUDGES,
    ),
    "all": (
        "The score is the lowest of the parts': all of them must hold.",
        COMBINES,
    ),
    "any": (
        "The score is the highest of the parts', the first one's where several tie.",
        COMBINES,
    ),
    "weighted": (
        "The score is the sum of score times weight over the sum of the weights.",
        COMBINES,
    ),
}


def semantics_of(type_name: str) -> tuple[str, ...]:
    """The paragraphs of a type; none for custom types, which speak for themselves."""
    return SEMANTICS.get(type_name, ())
