"""What several tests of the core stand on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.asking import Bench
from tests.stub import Stub


@pytest.fixture
def bench(stub: Stub) -> Iterator[Bench]:
    """Judges in front of the stub, on a clock that only sleeping moves."""
    made = Bench(stub)
    yield made
    made.switchboard.close()
