"""Alerts: evaluates rules on runs, notifies people and sends messages."""

from scoring.engine.alerts.email import is_set_up as mail_is_set_up
from scoring.engine.alerts.evaluation import follow_runs
from scoring.engine.alerts.messages import send_test
from scoring.engine.alerts.runner import AlertRunner, forget_old, tick

__all__ = ["AlertRunner", "follow_runs", "forget_old", "mail_is_set_up", "send_test", "tick"]
