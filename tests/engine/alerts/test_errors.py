"""What goes wrong with a message is told, and only what is final ends the tries."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.alerts.errors import SendError
from tests.engine.alerts.test_delivery import fire, receiver, send_one
from tests.engine.alerts.webhook_receiver import Receiver
from tests.support.fixtures.alert_rules import MakeRule

__all__ = ["receiver"]


@pytest.mark.parametrize(
    ("fault", "state", "error", "log"),
    [
        (ZeroDivisionError(), "waiting", "it failed with ZeroDivisionError", "could not be sent"),
        (SendError("no" * 200), "waiting", "no" * 150, ""),
        (SendError("no" * 200, is_final=True), "failed", "no" * 150, "was given up"),
    ],
)
def test_a_fault_is_kept_and_only_a_final_one_is_the_end(
    make_rule: MakeRule,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: Exception,
    state: str,
    error: str,
    log: str,
) -> None:
    def fails(*_: Any) -> None:
        raise fault

    monkeypatch.setattr("scoring.engine.alerts.webhook.send_webhook", fails)
    fire(make_rule(webhook_url=receiver.url))
    delivery = send_one()
    assert (delivery.state, delivery.error, log in caplog.text) == (state, error, True)
