"""A lock against importing torch in one thread while another works with scipy.

scipy checks whether its arguments are tensors of an imported torch. While another thread imports
torch, scipy finds the module without its classes, and fails.
"""

from __future__ import annotations

from threading import RLock
from typing import Final

#: Held while torch is imported, and while scipy is imported or works.
IMPORT_LOCK: Final = RLock()
