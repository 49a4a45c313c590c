"""Large libraries that look at each other while they are imported, by several threads.

scipy asks each of its arguments whether it is a tensor of a torch that is imported. Of one that
another thread imports just now it finds the module without its classes, and fails.
"""

from __future__ import annotations

from threading import RLock
from typing import Final

#: Held while torch is imported, and while scipy is imported or works.
TURN: Final = RLock()
