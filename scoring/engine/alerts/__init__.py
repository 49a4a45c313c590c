"""Alerts: evaluates rules on runs, notifies people and sends messages."""

from scoring.engine.alerts.email import is_configured as is_email_configured
from scoring.engine.alerts.evaluation import schedule_evaluations
from scoring.engine.alerts.messages import queue_test_message
from scoring.engine.alerts.runner import AlertRunner, purge_old, tick

__all__ = [
    "AlertRunner",
    "is_email_configured",
    "purge_old",
    "queue_test_message",
    "schedule_evaluations",
    "tick",
]
