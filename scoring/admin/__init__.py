"""Django's own admin for every row: look anywhere, change only what a person may change."""

from scoring.admin import alerting, calls, changing, comparing, drafting, reading, reviewing

__all__ = ["alerting", "calls", "changing", "comparing", "drafting", "reading", "reviewing"]
