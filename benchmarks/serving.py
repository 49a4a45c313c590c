"""How long people wait for pages, from the real server over loopback, idle and while runs score.

    python benchmarks/serving.py [--people 200] [--think 10] [--seconds 30] [--cases 20000]
                                 [--only-scoring]

Starts `manage.py start` on a fresh folder with the demo. People with sessions of their own open a
page, think for a while, exponentially spread, and open the next, over connections they keep. Then
the same while runs of so many cases are scored one after another. Prints a Markdown table with the
processor time of the web processes and of the worker's, and the share of the processors that
other programs had.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rounds import ROOT, Clock, Round, others_cell

MAX_PEOPLE = 500
MAX_SECONDS = 300
PATIENCE_SECONDS = 60
SESSIONS = 20
TICKS = os.sysconf("SC_CLK_TCK")


class PageTimings(NamedTuple):
    """What people waited for: seconds of each page, and what was no page."""

    seconds: list[float]
    faults: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--think", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--only-scoring", action="store_true", help="leave out the idle site")
    given = parser.parse_args()
    people, seconds = min(given.people, MAX_PEOPLE), min(given.seconds, MAX_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django

        django.setup()
        with site() as (port, pid):
            names = ["runs score"] if given.only_scoring else ["nothing scores", "runs score"]
            measure(port, pid, people, given.think, seconds, given.cases, names)


@contextmanager
def site() -> Iterator[tuple[int, int]]:
    """The port and the process of a site that is up and has nothing left to do."""
    from scoring.models import Job, Run

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "manage.py", "start", "--demo", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        while not _answers(port):
            time.sleep(0.5)
        while Run.objects.unfinished().exists() or Job.objects.unfinished().exists():
            time.sleep(0.5)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    from django.db import DatabaseError

    from scoring.models import Worker

    try:
        return Worker.objects.exists()
    except DatabaseError:
        return False


def measure(
    port: int,
    pid: int,
    people: int,
    think: float,
    seconds: float,
    cases: int,
    names: Sequence[str],
) -> None:
    cookies, urls = sessions(), pages()
    load = os.getloadavg()[0]
    print(f"Load of the machine before: {load:.1f}\n")
    print("| while | pages/s | p50, ms | p95 | p99 | faults | web CPU, ms a page | worker CPU, s "
          "| other programs |")  # fmt: skip
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in names:
        stop = threading.Event()
        if name == "runs score":
            scoring = threading.Thread(target=keep_scoring, args=[cases, stop], daemon=True)
            scoring.start()
            time.sleep(3)
        web, worker = processor_seconds(pid)
        clock = Clock()
        heard = asyncio.run(visit(port, cookies, urls, people, think, seconds))
        machine = clock.stop()
        web_after, worker_after = processor_seconds(pid)
        stop.set()
        spent = web_after - web, worker_after - worker
        print(row(name, heard, seconds, *spent, machine), flush=True)


def row(
    name: str, heard: PageTimings, seconds: float, web: float, worker: float, machine: Round
) -> str:
    count = len(heard.seconds)
    cuts = statistics.quantiles(heard.seconds, n=100)
    p50, p95, p99 = (f"{1_000 * cuts[n - 1]:.0f}" for n in (50, 95, 99))
    cells: tuple[str, ...] = name, f"{count / seconds:.1f}", p50, p95, p99, str(len(heard.faults))
    cells += f"{1_000 * web / count:.0f}", f"{worker:.1f}", others_cell([machine])
    return f"| {' | '.join(cells)} |"


def sessions() -> list[str]:
    from django.test import Client

    from scoring.models import Member, Role, Team, User

    cookies = []
    for number in range(SESSIONS):
        user = User.objects.create_user(f"person{number}@example.org")
        Member.objects.create(team=Team.objects.get(slug="demo"), user=user, role=Role.EDITOR)
        client = Client()
        client.force_login(user)
        cookies.append(client.cookies["sessionid"].value)
    return cookies


def pages() -> list[str]:
    from django.urls import reverse

    from scoring.models import Run, Team

    team = Team.objects.get(slug="demo")
    names = ("team_home", "runs", "compare", "team_drift")
    urls = [reverse(name, args=[team.slug]) for name in names]
    for run in Run.objects.filter(team=team).select_related("output_set__version__dataset")[:3]:
        dataset = run.output_set.version.dataset
        urls += [reverse("run", args=[run.uuid]), reverse("dataset", args=[dataset.uuid])]
    return urls


def keep_scoring(cases: int, stop: threading.Event) -> None:
    """Start a run of the dataset whenever the last one has ended."""
    from rounds import SCORERS
    from score_and_store import make_outputs

    from scoring.engine.runs import planning
    from scoring.models import Run, Scorer, Suite, Team

    team = Team.objects.get()
    scorers = [Scorer.objects.define(team, f"load {kind}", kind, own) for kind, own in SCORERS]
    suite = Suite.objects.define(team, "load", [(scorer, None) for scorer in scorers])
    outputs = make_outputs(cases)
    while not stop.is_set():
        run = planning.create_run(outputs, suite=suite)
        while not stop.is_set() and Run.objects.unfinished().filter(pk=run.pk).exists():
            time.sleep(0.2)


def processor_seconds(pid: int) -> tuple[float, float]:
    """Of the web processes and of the worker with what it started, the ended ones included."""
    found = {False: 0.0, True: 0.0}
    for process, ticks, command in family(pid):
        if process != pid:
            found["gunicorn" not in command] += ticks / TICKS
    return found[False], found[True]


def family(pid: int) -> Iterator[tuple[int, int, str]]:
    """Each process below this one, its processor time in ticks, and its command."""
    stats: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
    known, more = {pid}, {pid}
    while more:
        more = {child for child, stat in stats.items() if int(stat[1]) in known} - known
        known |= more
    for process in known & stats.keys():
        try:
            command = Path(f"/proc/{process}/cmdline").read_text()
        except OSError:
            continue
        yield process, sum(map(int, stats[process][11:15])), command


async def visit(
    port: int, cookies: list[str], urls: list[str], people: int, think: float, seconds: float
) -> PageTimings:
    heard = PageTimings([], [])
    end = time.monotonic() + seconds
    each = (person(port, random.choice(cookies), urls, think, end, heard) for _ in range(people))
    await asyncio.gather(*each)
    return heard


async def person(
    port: int, cookie: str, urls: list[str], think: float, end: float, heard: PageTimings
) -> None:
    await asyncio.sleep(random.uniform(0, think))
    connection = None
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            connection = connection or await asyncio.open_connection("127.0.0.1", port)
            asked = ask(*connection, random.choice(urls), cookie)
            status, stays = await asyncio.wait_for(asked, PATIENCE_SECONDS)
        except (OSError, EOFError, TimeoutError) as fault:
            heard.faults.append(type(fault).__name__)
            connection = None
        else:
            heard.seconds.append(time.perf_counter() - began)
            if status != 200:
                heard.faults.append(str(status))
            if not stays:
                connection[1].close()
                connection = None
        await asyncio.sleep(min(random.expovariate(1 / think), 25))
    if connection:
        connection[1].close()


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, url: str, cookie: str
) -> tuple[int, bool]:
    """The status, and whether the connection stays open; the whole page is read."""
    head = f"GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: sessionid={cookie}\r\n\r\n"
    writer.write(head.encode())
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(answer.split()[1])
    _, _, length = answer.partition(b"content-length:")
    if length:
        await reader.readexactly(int(length.split()[0]))
        return status, b"connection: close" not in answer
    if b"transfer-encoding: chunked" not in answer:
        await reader.read()
        return status, False
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
    await reader.readline()
    return status, b"connection: close" not in answer


if __name__ == "__main__":
    main()
