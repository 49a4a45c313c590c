"""Settings that are typed as JSON or as lines."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from evalsite.pages.scorers.config_fields import JsonTextField
from scoring.models import Scorer
from tests.pages.scorers.steps import NewScorer


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 100 + "]" * 100, '{"a": 1, "a": 2}', "NaN", "1e999", '"\\ud800"']
)
@pytest.mark.parametrize("or_text", [False, True])
def test_json_that_would_mislead_a_score_is_refused(text: str, or_text: bool) -> None:
    with pytest.raises(ValidationError, match=r"^\['This is not usable JSON: "):
        JsonTextField(or_text=or_text).clean(text)


def test_text_that_is_no_json_means_itself_only_where_it_may() -> None:
    assert JsonTextField(or_text=True).clean("four {") == "four {"
    with pytest.raises(ValidationError):
        JsonTextField().clean("four {")


def test_a_list_of_texts_with_a_nul_is_refused_as_no_database_keeps_it(
    new_scorer: NewScorer,
) -> None:
    form = new_scorer("includes")
    form.save(name="named", **{"config-values": '["a\\u0000b"]'})
    assert "the text at [0] holds a NUL character" in form.page
    form.save(name="named", **{"config-values": '["a\\nb"]'})
    made = Scorer.objects.get(name="named")
    assert made.current is not None
    assert made.current.config["values"] == ["a\nb"]
