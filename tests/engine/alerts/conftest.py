"""Alert rules for all tests of alerts."""

from __future__ import annotations

from tests.support.fixtures.alert_rules import firing_rule, make_rule, version

__all__ = ["firing_rule", "make_rule", "version"]
