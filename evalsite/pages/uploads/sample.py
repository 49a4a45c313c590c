"""A small file to try the site with: questions to a support desk and two models' answers."""

from __future__ import annotations

from typing import Final

NAME: Final = "evalsite-sample.csv"
_ROWS: Final = """\
id,question,expected,tags,small model output,large model output
refund-1,How long does a refund take?,5 working days,"billing,refund",5 working days,\
A refund takes 5 working days.
refund-2,Can I get a refund after 30 days?,No,"billing,refund",Yes,No
invoice-1,Where do I find my invoices?,"Settings, then Billing",billing,Settings → Billing,\
"Settings, then Billing"
invoice-2,Which currencies can I pay in?,"EUR, GBP and USD",billing,EUR and USD,"EUR, GBP and USD"
login-1,How many attempts until my account locks?,10,account,10,10 attempts
login-2,How long does a lock last?,15 minutes,account,15 minutes,15 minutes
plan-1,How many seats has the team plan?,25,plans,20,25
plan-2,Can I change the plan in the middle of a month?,Yes,plans,Yes,Yes
export-1,In which formats can I export my tickets?,CSV and JSON,export,"CSV, JSON",CSV and JSON
export-2,Is there a limit on exported rows?,"100,000",export,There is no limit.,"100,000"
"""


def sample_csv() -> str:
    """Ten rows under a header, as CSV."""
    return _ROWS.replace("\n", "\r\n")
