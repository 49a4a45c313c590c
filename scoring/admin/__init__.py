"""Django's own admin for every row: look anywhere, change only what a person may change."""

from scoring.admin import calls, changing, comparing, drafting, reading, reviewing

__all__ = ["calls", "changing", "comparing", "drafting", "reading", "reviewing"]
