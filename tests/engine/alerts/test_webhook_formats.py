"""What Slack and Teams are sent: shapes and limits, and that texts from outside stay texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from scoring.engine.alerts.webhook_formats import escape_slack, format_message, truncate

HOSTILE = (
    "<!channel> <https://evil.example|click> & *bold* _x_ [a](https://evil.example) <at>all</at>"
)
SITE = "https://evals.example.org"


def message(event: str = "alert.opened", **more: Any) -> dict[str, Any]:
    return {
        "event": event,
        "at": "2026-03-02T06:10:04+00:00",
        "text": "Answers · nightly: The mean of close is 0.71 in w9, below 0.8.",
        "team": "support",
        "dataset": {"id": "1", "name": "Answers"},
        "series": "nightly",
        "rule": {"id": "2", "kind": "mean_below", "condition": "mean of close below 0.8"},
        "alert": None,
        "run": {"id": "4", "name": "w9", "url": f"{SITE}/runs/4/"},
        "baseline": None,
        "url": f"{SITE}/datasets/1/drift/",
        **more,
    }


HOSTILE_MESSAGE = message(
    text=HOSTILE,
    dataset={"id": "1", "name": HOSTILE},
    series=HOSTILE,
    rule={"condition": HOSTILE},
    run={"name": HOSTILE, "url": f"{SITE}/runs/4/?a=1&b=<2>"},
    baseline={"name": HOSTILE, "url": f"{SITE}/runs/3/"},
)


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a JSON value, at any depth."""
    if isinstance(value, dict):
        yield value
    children = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        for child in children:
            yield from objects_in(child)


def slack(given: dict[str, Any]) -> dict[str, Any]:
    return format_message("slack", "an-id", given)


def teams(given: dict[str, Any]) -> dict[str, Any]:
    body = format_message("teams", "an-id", given)
    (attachment,) = body["attachments"]
    assert body["type"] == "message"
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card: dict[str, Any] = attachment["content"]
    return card


def shown_in(card: dict[str, Any]) -> list[str]:
    return ["".join(run["text"] for run in block["inlines"]) for block in card["body"]]


def test_json_is_the_message_with_its_id() -> None:
    assert format_message("json", "an-id", message()) == {"id": "an-id", **message()}


def test_slack_gets_blocks_and_a_text_for_notifications() -> None:
    body = slack(message())
    assert body["text"] == f"Alert: {message()['text']}"
    header, section, context, links = body["blocks"]
    assert (header["type"], header["text"]["text"]) == ("header", "Alert")
    assert (section["type"], section["text"]["text"]) == ("section", message()["text"])
    assert [each["text"] for each in context["elements"]] == [
        "Dataset: Answers",
        "Series: nightly",
        "Condition: mean of close below 0.8",
        "Run: w9",
    ]
    assert links["text"] == {
        "type": "mrkdwn",
        "text": f"<{SITE}/runs/4/|Open run> · <{SITE}/datasets/1/drift/|Open drift>",
    }


def test_teams_gets_an_adaptive_card() -> None:
    card = teams(message())
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    assert shown_in(card)[:3] == ["Alert", message()["text"], "Dataset: Answers"]
    assert card["actions"] == [
        {"type": "Action.OpenUrl", "title": "Open run", "url": f"{SITE}/runs/4/"},
        {"type": "Action.OpenUrl", "title": "Open drift", "url": f"{SITE}/datasets/1/drift/"},
    ]


@pytest.mark.parametrize("event", ["opened", "again", "resolved", "test"])
def test_every_event_has_a_title(event: str) -> None:
    given = message(f"alert.{event}", run=None, series="")
    title = slack(given)["blocks"][0]["text"]["text"]
    assert shown_in(teams(given))[0] == title
    assert not any("Series" in text or "Run" in text for text in shown_in(teams(given)))


def test_slack_reads_no_markup_in_texts_from_outside() -> None:
    """Plain text has no formatting, and the three entities leave no mention and no link."""
    body = slack(HOSTILE_MESSAGE)
    *plain, links = body["blocks"]
    texts = [each for each in objects_in(plain) if "text" in each and isinstance(each["text"], str)]
    assert {each["type"] for each in texts} == {"plain_text"}
    assert not any(character in each["text"] for each in texts for character in "<>")
    assert "<" not in body["text"]
    assert escape_slack("<!channel> & co") == "&lt;!channel&gt; &amp; co"
    assert links["text"]["text"].startswith(f"<{SITE}/runs/4/?a=1&amp;b=&lt;2&gt;|Open run>")


def test_teams_reads_no_markup_in_texts_from_outside() -> None:
    """Text blocks and fact sets would render Markdown; text runs do not."""
    card = teams(HOSTILE_MESSAGE)
    kinds = {each.get("type") for each in objects_in(card)}
    assert kinds == {"AdaptiveCard", "RichTextBlock", "TextRun", "Action.OpenUrl", None}
    assert shown_in(card)[1] == HOSTILE
    assert "entities" not in card["msteams"]  # without them <at> mentions nobody


def test_long_texts_fit_what_both_take() -> None:
    name = "&" * 5_000
    given = message(text=name, series=name, run={"name": name, "url": SITE})
    for each in objects_in(slack(given)):
        assert not isinstance(each.get("text"), str) or len(each["text"]) <= 3_100
    for block in slack(given)["blocks"]:
        section = block.get("text", {}).get("text", "")
        assert len(section) <= (150 if block["type"] == "header" else 3_000)
        assert all(len(each["text"]) <= 2_000 for each in block.get("elements", []))
    assert len(json.dumps(teams(given))) < 28_000
    assert truncate("a\n b", 10) == "a b"
    assert truncate("abcdef", 4) == "abc…"


def test_a_site_without_its_own_address_sends_no_links() -> None:
    given = message(run={"name": "w9", "url": "/runs/4/"}, url="/datasets/1/drift/")
    assert teams(given)["actions"] == []
    assert "mrkdwn" not in json.dumps(slack(given))
