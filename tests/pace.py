"""How much longer a processor takes for the same work while another test process uses the rest."""

from __future__ import annotations

import os
from typing import Final

#: By what goals in seconds are multiplied: measured 1.05 to 1.2 on two cores, with two processes.
SHARED: Final = 1.4 if "PYTEST_XDIST_WORKER" in os.environ else 1.0
