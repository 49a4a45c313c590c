"""How tests are spread over processes: file by file, in the order in which they were sorted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class FileScheduling(LoadFileScheduling):
    """As `--dist=loadfile`, but a test that ends its process is not given to another one.

    xdist hands out the unfinished rest of a file again with the test at which its process died, so
    that a test that hangs would end one process after another.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """The test during which the process ended, if there was one; the rest goes to others."""
        work = self.assigned_work.pop(node)
        died = next(_unfinished(work), None)
        if died is None:
            return None
        scope, test = died
        work[scope][test] = True
        self.workqueue.update({scope: work[scope] for scope, _ in _unfinished(work)})
        for other in self.assigned_work:
            self._reschedule(other)
        return test

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Files that are done are forgotten; they would be counted again after each test."""
        super().mark_test_complete(node, item_index, duration)
        assigned = self.assigned_work[node]
        for scope in [scope for scope, tests in assigned.items() if all(tests.values())]:
            del assigned[scope]


def _unfinished(work: dict[str, dict[str, bool]]) -> Iterator[tuple[str, str]]:
    for scope, tests in work.items():
        for test, is_done in tests.items():
            if not is_done:
                yield scope, test


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileScheduling | None:
    return FileScheduling(config, log) if config.getoption("dist") == "loadfile" else None
