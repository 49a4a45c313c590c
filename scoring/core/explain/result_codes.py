"""The meaning of each result code, in one sentence.

A result's reason describes one case; these sentences describe all cases with the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CODE_MEANINGS: Final[Mapping[str, str]] = {
    # The case and its output
    "no_output": "The output could not be produced; its error says why.",
    "expected_missing": "The case has no expected output to compare with, so it fails.",
    "target_not_in_output": "The output lacks the key the scorer looks at.",
    "target_not_in_expected": "The expected value lacks the key the scorer looks at.",
    "nothing_extracted": "The output does not hold what is to be extracted from it.",
    "invalid_json": "The text is not valid JSON.",
    "invalid_yaml": "The text is not valid YAML, or uses a part of it that is not read.",
    "duplicate_key": "The JSON names a key twice, so it has no one meaning.",
    "invalid_unicode": "The text holds half a character.",
    "nul_character": "The text holds a NUL character.",
    "not_finite": "The JSON holds a number that is not finite.",
    "number_too_long": "A number has too many digits to be read exactly.",
    "too_deep": "The JSON is nested too deeply.",
    "too_many_keys": "The JSON has too many keys.",
    "not_a_number": "The text is not a number.",
    "too_many_references": "The case has more references than a scorer compares.",
    "no_leaves": "The expected value holds nothing to compare; the case is skipped.",
    "place_empty": "The prompt asks for something that the case does not have.",
    # The scorer
    "config_error": "The scorer's config cannot be used; correct it.",
    "pattern_timeout": "The pattern took too long on this text; make it simpler.",
    "expression_failed": "The expression failed on this case; its reason says where.",
    "too_costly": "The expression asks for too much work; make it simpler.",
    "too_large": "The expression or schema meets a text that is too large for it.",
    "not_a_score": "The scorer answered with something that is no score.",
    "score_out_of_range": "The scorer answered with a number outside 0 to 1.",
    "invalid_result": "A custom scorer answered with something that is no result.",
    "scorer_failed": "The scorer itself failed; its reason names the fault.",
    "service_failed": "Something the scorer depends on did not answer; try again.",
    "too_slow": "Scoring took longer than a worker waits; try fewer or shorter outputs.",
    "worker_crashed": "The process that scored it died several times; look into the worker's log.",
    "child_failed": "A part of the combination has an error; its reason names the part.",
    "all_skipped": "Every part of the combination was skipped.",
    # What a judge replied
    "reply_empty": "The judge's reply is empty; retry, or choose another model.",
    "reply_truncated": "The judge's reply was cut off at the model's limit of tokens.",
    "reply_unparsable": "The judge's reply is not the JSON object that was asked for.",
    "reply_too_large": "The endpoint's reply is larger than is read.",
    "choice_unknown": "The judge chose something that is not on the scale.",
    "several_verdicts": "The judge's reply holds more than one verdict.",
    "out_of_range": "The judge's number is outside the range.",
    "refused": "The model or its endpoint refused to judge; the case is skipped.",
    # The endpoint
    "connection_missing": "No connection answers; set a default one, or add the one of the name.",
    "no_key": "There is no key for the endpoint; an administrator enters one.",
    "key_refused": "The endpoint refused the key; give the connection a valid one.",
    "model_missing": "The endpoint has no such model for this key; choose another.",
    "not_an_api": "No API answers at this URL; check the connection's base URL.",
    "bad_request": "The endpoint did not accept the request; its words are in the reason.",
    "context_too_long": "The texts are longer than the model takes; shorten them.",
    "rate_limited": "The endpoint took no more calls; retry the errors later.",
    "quota_exhausted": "The endpoint's quota or credit is used up; top it up there.",
    "endpoint_failed": "The endpoint failed; retry the errors later.",
    "endpoint_unreachable": "The endpoint could not be reached; check its address and the network.",
    "timeout": "The endpoint did not answer in time; retry, or raise the connection's time limit.",
    "generation_failed": "The model gave no output for this case.",
    # Money, embeddings, and the run
    "budget_reached": "The run's budget was spent before this call; raise it and retry the errors.",
    "price_missing": "The model's price is not known, so the budget cannot be kept; enter it.",
    "embeddings_missing": "Local embeddings are not installed on the worker; install them.",
    "embedding_failed": "The texts could not be turned into vectors.",
    "cancelled": "The run was cancelled before this call; resume it.",
}


def code_meaning(code: str) -> str:
    """What the code means; "" for one of a custom scorer's own."""
    return CODE_MEANINGS.get(code, "")
