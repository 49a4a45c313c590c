"""What the benchmarks have in common: rounds with their processor time, their texts, their site.

A round's figures are the time that passed, the processor time of this process and of all processes
it started, and the share of the processors that other programs had meanwhile. Tables show the
median and the minimum of the rounds. Processor time hardly depends on what else the machine does;
elapsed time does.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
TICKS: Final = os.sysconf("SC_CLK_TCK")  # a second, in /proc
CPUS: Final = os.cpu_count() or 1
TEXT: Final = """
    the refund was issued on Monday and reached your account within three working days after we had
    cancelled the order that arrived damaged please send us a photo of it
"""
WORDS: Final = TEXT.split()
CHARACTERS_A_WORD: Final = 5.6  # with its space

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as manage.py

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@dataclass(frozen=True)
class Round:
    """Seconds, and the share of all processors that other programs had, from 0 to 1.

    `cpu` is the processor time of this process and all that it started, `own` of this one alone.
    """

    seconds: float
    cpu: float
    others: float
    own: float = 0.0


class Clock:
    """Measures from its making to `stop`."""

    def __init__(self) -> None:
        self._children, self._busy = _children_seconds(), _busy_seconds()
        self._own, self._start = time.process_time(), time.perf_counter()

    def stop(self) -> Round:
        """Children that have not ended yet count, and so do those that were waited for."""
        seconds, own = time.perf_counter() - self._start, time.process_time() - self._own
        cpu = own + _children_seconds() - self._children
        others = _busy_seconds() - self._busy - cpu
        share = others / (seconds * CPUS) if seconds else 0.0
        return Round(seconds, cpu, min(max(share, 0.0), 1.0), own)


def measure(function: Callable[[], Any]) -> Round:
    clock = Clock()
    function()
    return clock.stop()


def seconds_cell(values: Sequence[float], digits: int = 2) -> str:
    """Median and minimum, as a cell of a table."""
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f})"


def ms_cells(rounds: Sequence[Round]) -> tuple[str, str, str]:
    """Milliseconds, those of processor time, and the share of other programs."""
    seconds, cpu = [1_000 * each.seconds for each in rounds], [1_000 * each.cpu for each in rounds]
    return seconds_cell(seconds, 0), seconds_cell(cpu, 0), others_cell(rounds)


def ratio_cell(rounds: Sequence[Round], others: Sequence[Round]) -> str:
    """The processor time as a multiple of that of the others: of medians, and of minima."""
    one, other = [each.cpu for each in rounds], [each.cpu for each in others]
    return f"{median(one) / median(other):.2f} ({min(one) / min(other):.2f})"


def rate_cell(count: int, rounds: Sequence[Round]) -> str:
    """So many a second in the median round and in the quickest."""
    seconds = [each.seconds for each in rounds]
    return f"{count / median(seconds):,.0f} ({count / min(seconds):,.0f})"


def cpu_cell(count: int, rounds: Sequence[Round]) -> str:
    """Microseconds of processor time for each, in the median round."""
    return f"{1e6 * median(each.cpu for each in rounds) / count:,.1f}"


def own_cpu_cell(count: int, rounds: Sequence[Round]) -> str:
    """Milliseconds of this process's processor time for each: median and minimum."""
    return seconds_cell([1_000 * each.own / count for each in rounds])


def share_cell(shares: Sequence[float]) -> str:
    """The share of an ideal in the median round and in the best."""
    return f"{median(shares):.1%} ({max(shares):.1%})"


def others_cell(rounds: Sequence[Round]) -> str:
    """The share of the processors that other programs had: the median round's, and the most."""
    shares = [each.others for each in rounds]
    return f"{median(shares):.0%} ({max(shares):.0%})"


def print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_head(*names: str) -> None:
    """The first name stands left, figures stand right."""
    print_row(*names)
    print_row("---", *["---:"] * (len(names) - 1))


def print_machine() -> None:
    """What a reader needs to judge the figures by."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"\n{CPUS} processors; load average at the end: {load} (1, 5, 15 minutes).")


@contextmanager
def new_site() -> Iterator[Path]:
    """A site with a folder of its own, on a fresh SQLite file unless DATABASE_URL names another."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield Path(folder)


def make_suite() -> Any:
    """Three deterministic scorers of a new team."""
    from scoring.models import Scorer, Suite, Team

    team = Team.objects.create(name="Benchmark", slug="benchmark")
    scorers = [Scorer.objects.define(team, name, name, config) for name, config in SCORERS]
    return Suite.objects.define(team, "three", [(scorer, None) for scorer in scorers])


SCORERS: Final[Sequence[tuple[str, dict[str, Any]]]] = (
    ("exact_match", {}),
    ("includes", {"values": ["refund"]}),
    ("levenshtein", {}),
)


def pairs(size: int, characters: int = 100, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Expected text and output, of this many characters in the median; a third are equal."""
    chance = random.Random(seed)
    usual = max(2, round(characters / CHARACTERS_A_WORD))
    for _ in range(size):
        count = usual + chance.randint(-usual // 4, usual // 4)
        expected = chance.choices(WORDS, k=count)
        words = list(expected)
        if chance.random() > 1 / 3:
            words[chance.randrange(count)] = chance.choice(WORDS)
            words.insert(chance.randrange(count), chance.choice(WORDS))
        yield " ".join(expected), " ".join(words)


def _children_seconds() -> float:
    """Processor time of the processes that this one started, and of those that they did."""
    ticks = 0
    for pid in _descendants():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        ticks += sum(map(int, fields[11:15]))  # its own, and that of ended children
    ended = os.times()
    return ended.children_user + ended.children_system + ticks / TICKS


def _descendants() -> Iterator[int]:
    waiting = [os.getpid()]
    while waiting:
        parent = waiting.pop()
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                children = [int(pid) for pid in task.read_text().split()]
            except OSError:
                continue
            yield from children
            waiting += children


def _busy_seconds() -> float:
    """Of all processors together, since the machine started: everything but idle and waiting."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, *rest = map(int, fields[:8])
    return (user + nice + system + sum(rest)) / TICKS
