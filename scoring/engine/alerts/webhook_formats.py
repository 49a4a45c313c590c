"""The bodies of webhook calls: plain JSON, and what Slack and Microsoft Teams show as a message.

Names of datasets, runs and scorers are texts from outside: they reach Slack and Teams as plain
text, never as markup, so that none can mention a channel or hide behind a link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from scoring.models import WebhookFormat

TITLES: Final = {
    "alert.opened": "Alert",
    "alert.again": "Alert still firing",
    "alert.resolved": "Alert over",
    "alert.test": "Test of an alert rule",
}
#: Slack takes 3,000 characters in a text and 2,000 in a field, an escaped one counting up to five.
MAX_CHARS: Final = 600
MAX_FIELD_CHARS: Final = 300
_SLACK_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_CARD_TYPE: Final = "application/vnd.microsoft.card.adaptive"
_CARD_SCHEMA: Final = "http://adaptivecards.io/schemas/adaptive-card.json"

Message = Mapping[str, Any]


def format_message(form: str, event_id: str, message: Message) -> dict[str, Any]:
    """The body of a call in one of the formats, from a message as it is stored."""
    return FORMATS[form](event_id, message)


def _plain_json(event_id: str, message: Message) -> dict[str, Any]:
    return {"id": event_id, **message}


def _slack(_: str, message: Message) -> dict[str, Any]:
    """Blocks, and the text that notifications show.

    A message text and every text object decode the three entities:
    https://docs.slack.dev/messaging/formatting-message-text
    """
    title = TITLES[message["event"]]
    text = escape_slack(truncate(message["text"], MAX_CHARS))
    fields = [_slack_text(f"{name}: {value}") for name, value in _facts(message)]
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _slack_text(title)},
        {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}},
        {"type": "context", "elements": fields},
    ]
    if links := [f"<{escape_slack(url)}|{name}>" for name, url in _links(message)]:
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": " · ".join(links)}})
    return {"text": f"{title}: {text}", "blocks": blocks}


def escape_slack(text: str) -> str:
    """The text without Slack's control characters, which would open links and mentions."""
    return "".join(_SLACK_ENTITIES.get(character, character) for character in text)


def _slack_text(text: str) -> dict[str, Any]:
    shown = escape_slack(truncate(text, MAX_FIELD_CHARS))
    return {"type": "plain_text", "text": shown, "emoji": False}


def _teams(_: str, message: Message) -> dict[str, Any]:
    """An adaptive card in a message, as Teams' workflows take it.

    Text runs show what they hold: text blocks and fact sets would read it as Markdown.
    """
    facts = [
        _text_runs({"text": f"{name}: ", "weight": "Bolder"}, {"text": value})
        for name, value in _facts(message)
    ]
    card = {
        "$schema": _CARD_SCHEMA,
        "type": "AdaptiveCard",
        "version": "1.4",
        "msteams": {"width": "Full"},
        "body": [
            _text_runs({"text": TITLES[message["event"]], "weight": "Bolder", "size": "Medium"}),
            _text_runs({"text": truncate(message["text"], MAX_CHARS)}),
            *facts,
        ],
        "actions": [
            {"type": "Action.OpenUrl", "title": name, "url": url} for name, url in _links(message)
        ],
    }
    attachment = {"contentType": _CARD_TYPE, "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _text_runs(*runs: Mapping[str, str]) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", **run} for run in runs]}


def _facts(message: Message) -> list[tuple[str, str]]:
    run, baseline = message["run"], message["baseline"]
    facts = [
        ("Dataset", message["dataset"]["name"]),
        ("Series", message["series"]),
        ("Condition", message["rule"]["condition"]),
        ("Run", run["name"] if run else ""),
        ("Baseline", baseline["name"] if baseline else ""),
    ]
    return [(name, truncate(value, MAX_FIELD_CHARS)) for name, value in facts if value]


def _links(message: Message) -> list[tuple[str, str]]:
    """Pages of the site; none where it does not know its own address, as a path leads nowhere."""
    run = message["run"]
    pages = [("Open run", run["url"] if run else ""), ("Open drift", message["url"])]
    return [(name, url) for name, url in pages if url.startswith(("https://", "http://"))]


def truncate(text: str, most: int) -> str:
    """One line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


FORMATS: Final[Mapping[str, Callable[[str, Message], dict[str, Any]]]] = {
    WebhookFormat.JSON: _plain_json,
    WebhookFormat.SLACK: _slack,
    WebhookFormat.TEAMS: _teams,
}
