"""Alerts: evaluates rules on runs, notifies people and sends messages."""

from scoring.engine.alerts.email import is_configured as mail_is_set_up
from scoring.engine.alerts.evaluation import follow_runs
from scoring.engine.alerts.messages import queue_test_message
from scoring.engine.alerts.runner import AlertRunner, purge_old, tick

__all__ = [
    "AlertRunner",
    "follow_runs",
    "mail_is_set_up",
    "purge_old",
    "queue_test_message",
    "tick",
]
