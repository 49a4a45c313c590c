"""Django's own admin for every row: look anywhere, change only what a person may change."""

from scoring.admin import editable, read_only

__all__ = ["editable", "read_only"]
