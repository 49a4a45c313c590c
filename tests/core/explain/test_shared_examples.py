"""The answers by which help pages tell the types apart do tell them apart."""

from __future__ import annotations

from scoring.core.configured import configure_scorer
from scoring.core.explain.shared_examples import SHARED_EXAMPLES, comparable_types


def scores(config_of_example: bool) -> dict[str, list[float | None]]:
    return {
        kind.name: [
            configure_scorer(kind.name, {"extract": example.extract} if config_of_example else {})
            .score([example.case])[0]
            .score
            for example in SHARED_EXAMPLES
        ]
        for kind in comparable_types()
    }


def test_no_two_types_say_the_same_of_all_three() -> None:
    plain, extracted = scores(False), scores(True)
    said = [(tuple(plain[name]), tuple(extracted[name])) for name in plain]
    assert len(set(said)) == len(said)


def test_extraction_finds_each_answer() -> None:
    assert scores(False)["exact_match"] == [0.0, 0.0, 0.0]
    assert scores(True)["exact_match"][:2] == [1.0, 1.0]
    assert scores(True)["json_similarity"][2] == 0.75


def test_every_type_that_needs_no_setting_and_no_model_is_compared() -> None:
    assert {"includes", "numeric", "token_f1", "bleu", "rouge_l", "json_schema"} <= {
        kind.name for kind in comparable_types()
    }
    assert not {"regex", "reference_match", "llm_judge", "all"} & {
        kind.name for kind in comparable_types()
    }
