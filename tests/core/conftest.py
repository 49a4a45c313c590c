"""What several tests of the core stand on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stub import Stub
from tests.support.judges import Bench


@pytest.fixture
def bench(stub: Stub) -> Iterator[Bench]:
    """Judges in front of the stub, on a clock that only sleeping moves."""
    made = Bench(stub)
    yield made
    made.pool.close()
