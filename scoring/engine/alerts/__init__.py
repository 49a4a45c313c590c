"""Alerts: looks at what runs left behind, tells people, and sends what is to be sent."""

from scoring.engine.alerts.desk import AlertDesk, forget_old, tick
from scoring.engine.alerts.looking import leave_after
from scoring.engine.alerts.mail import is_set_up as mail_is_set_up
from scoring.engine.alerts.telling import send_test

__all__ = ["AlertDesk", "forget_old", "leave_after", "mail_is_set_up", "send_test", "tick"]
