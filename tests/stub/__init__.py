"""A stub of an OpenAI-compatible endpoint, written from the provider's documents.

`stub` in tests/conftest.py starts one; `python -m tests.stub` runs one on its own.
"""

from tests.stub.scenarios import RIGHT_KEY, SCENARIOS, Asked, in_turn
from tests.stub.server import Stub, closed_port

__all__ = ["RIGHT_KEY", "SCENARIOS", "Asked", "Stub", "closed_port", "in_turn"]
