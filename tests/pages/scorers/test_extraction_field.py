"""How an answer is found inside a text, as a choice with a text of its own."""

from __future__ import annotations

from typing import Any

import pytest
from django import forms

from evalsite.pages.scorers.extraction_field import ExtractionField, ExtractionInput
from scoring.core.contract import Json
from scoring.core.scorers.extraction import KINDS


class OneSetting(forms.Form):
    setting = ExtractionField(required=False)


SETTINGS: list[Json] = [
    None,
    "last_number",
    "json",
    {"after": "A: <b>"},
    {"pattern": r"(\d+) \w"},
    {"path": "a.b[0]"},
]


def pair(setting: Json) -> tuple[str, str]:
    kind, text = ExtractionField().prepare_value(setting) or ("", "")
    return kind, text


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_is_shown_comes_back(setting: Json) -> None:
    kind, text = pair(setting)
    form = OneSetting({"setting": kind, "setting-text": text})
    assert form.is_valid()
    assert form.cleaned_data["setting"] == setting


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_choice_and_its_text_are_filled_in(setting: Json) -> None:
    html = str(OneSetting(initial={"setting": setting})["setting"])
    kind, text = pair(setting)
    assert f'<option value="{kind}"' in html
    assert html.count(" selected") == 1
    assert "<b>" not in html
    assert text in html.replace("&lt;", "<").replace("&gt;", ">")


def test_every_way_has_a_choice() -> None:
    html = ExtractionInput().render("setting", None)
    assert all(f'value="{kind}"' in html for kind in KINDS)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"setting": "after"}, "`after` needs a marker"),
        ({"setting": "pattern", "setting-text": "("}, "Pattern"),
        ({"setting": "path", "setting-text": "["}, "Cannot read the path"),
        ({"setting": "unknown"}, "Must be"),
        ({"setting": "", "setting-text": "A:"}, "Select whether this is"),
    ],
)
def test_what_cannot_be_used_is_refused(sent: dict[str, Any], said: str) -> None:
    form = OneSetting(sent)
    assert not form.is_valid()
    assert said in form.errors["setting"][0]


def test_nothing_sent_is_no_extraction() -> None:
    form = OneSetting({})
    assert form.is_valid()
    assert form.cleaned_data["setting"] is None


def test_the_text_of_another_choice_does_not_count() -> None:
    form = OneSetting({"setting": "json", "setting-text": "A:"})
    assert form.is_valid()
    assert form.cleaned_data["setting"] == "json"
