"""What people wait for, as a multiple of a reference, beside its limit.

    python benchmarks/limits.py [--only PART]

Each line is the processor time of one act as a multiple of that of a reference in the same process:
a bare loop of some 8 ms, a bare Django view of 50 rows, or the same act with little to do. Both are
done in turn; the best of three rounds counts, each long enough to be measured. Prints a Markdown
table, and ends with exit code 1 where a limit is missed. Ratios hardly depend on the machine, but
other programs disturb them: measure on an idle one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from rounds import ROOT, new_site, print_head, print_machine, print_row

from tests.support.speed import bare_loop

ROUNDS: Final = 3
#: A round repeats its act until it has taken so long.
ROUND_SECONDS: Final = 0.1
#: Bare loops to a second, on a processor on which limits in seconds are meant as they are.
LOOPS: Final = 125
TEN_MEGABYTES: Final = 10_000_000
CASES: Final = 2_000
MODES: Final = ("char", "word", "line")
LAYOUTS: Final = ("side", "inline")
SENTENCE: Final = "the refund was issued on Monday to your card and may take five days"
#: Of pages, as multiples of the bare view: a quarter above the goals of `benchmarks/pages.py`,
#: whose cases are longer, so that its bare view takes longer too.
LIST, FIGURES, HISTORY = 5.0, 7.5, 1.6
PAGES: Final = {
    "home": LIST,
    "runs": LIST,
    "dataset": LIST,
    "case": LIST,
    "run": FIGURES,
    "compare": FIGURES,
    "drift": FIGURES,
    "drift of a team": FIGURES,
}
BARE_CHECK: Final = """
import django
from django.conf import settings
from django.core.management import call_command
apps = ["admin", "auth", "contenttypes", "sessions", "messages"]
settings.configure(
    INSTALLED_APPS=[f"django.contrib.{app}" for app in apps],
    SILENCED_SYSTEM_CHECKS=["admin.E403", "admin.E408", "admin.E409", "admin.E410"],
)
django.setup()
call_command("check")
"""

Act = Callable[[], object]


class Limit(NamedTuple):
    """`act` may take at most `times` as long as `reference`."""

    name: str
    times: float
    reference: Act
    act: Act

    def measured(self) -> float:
        """The ratio of the quickest rounds."""
        act = reference = inf
        for _ in range(ROUNDS):
            reference = min(reference, seconds_of(self.reference))
            act = min(act, seconds_of(self.act))
        return act / reference


def seconds_of(act: Act) -> float:
    """Processor time of one call, that of its processes included, from as many as a round takes."""
    count, began = 0, _processor_seconds()
    while (taken := _processor_seconds() - began) < ROUND_SECONDS or not count:
        act()
        count += 1
    return taken / count


def _processor_seconds() -> float:
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="a part of the names of the acts to measure")
    only = parser.parse_args().only
    os.environ["EVALSITE_ALLOWED_HOSTS"] = "testserver"
    missed = False
    print_head("act", "measured", "limit", "missed")
    with new_site():
        for limit in limits():
            if only in limit.name:
                ratio = limit.measured()
                is_missed = ratio > limit.times
                missed = missed or is_missed
                print_row(limit.name, f"{ratio:.2f}", f"{limit.times:g}", "yes" * is_missed)
    print_machine()
    return int(missed)


def limits() -> Iterator[Limit]:
    yield from of_texts()
    yield Limit("manage.py check, to a bare site's", 3.5, partial(run, "-c", BARE_CHECK), check)
    site = Site()
    yield from of_cases(site)
    yield from of_pages(site)
    yield from of_history(site)


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, check=True)


def check() -> None:
    run("manage.py", "check")


def in_loops(name: str, seconds: float, act: Act) -> Limit:
    """A limit in seconds, as a multiple of the bare loop."""
    return Limit(name, seconds * LOOPS, bare_loop, act)


def of_texts() -> Iterator[Limit]:
    """Differences, of 10,000 characters in 20 ms and of 10 MB in 1 s, and texts as Markdown."""
    from evalsite.pages.cases.texts.case_texts import render_value
    from scoring.core.textdiff.diff import diff
    from scoring.core.textdiff.line_matching import match_lines
    from scoring.core.textdiff.text_layout import SHOWN_CHARS
    from tests.support.payloads import SLOWEST_MARKDOWN

    for mode in MODES:
        for share in (0.02, 0.3, 0.9):
            pair = shuffled(share)
            name = f"diff of 10,000 characters by {mode}, {share:.0%} changed"
            yield in_loops(name, 0.020, partial(diff, *pair, mode))
        for unit in ("x", "a b ", "\n", "some words in a line\n"):
            long = unit * (TEN_MEGABYTES // len(unit))
            changed = f"{long[: TEN_MEGABYTES // 2]}z{long[TEN_MEGABYTES // 2 :]}"
            yield in_loops(
                f"diff of 10 MB of {unit!r} by {mode}", 1.0, partial(diff, long, changed, mode)
            )
    for words in (1, 2, 8, 40, 300):
        for every in (1, 2):
            pair = rows_of_words(words, every)
            name = f"diff of lines of {words} words, 1 of {every} changed"
            yield in_loops(name, 0.020, partial(diff, *pair, "line"))
    lines = [("a b c d", "a x c y"), ("keep", "keep")] * 16_000
    before, after = ("\n".join(each)[:200_000] for each in zip(*lines, strict=True))
    name = "diff of 200,000 characters, every second line changed"
    yield in_loops(name, 0.2, partial(diff, before, after, "line"))
    old = [f"line {n} of it" for n in range(3_000)]
    new = [f"{line} changed" for line in old]
    few = partial(match_lines, old[:300], new[:300])
    yield Limit("3,000 lines matched, to 300", 15, few, partial(match_lines, old, new))
    for unit in SLOWEST_MARKDOWN:
        text = (unit * SHOWN_CHARS)[:SHOWN_CHARS]
        yield in_loops(f"Markdown of {text[:12]!r}", 0.2, partial(render_value, text))


def shuffled(share: float) -> tuple[str, str]:
    """10,000 characters of words, and the same with this share of the words drawn anew."""
    chance = random.Random(7)
    words = [f"word{number}" for number in range(300)]
    one = [chance.choice(words) for _ in range(1_300)]
    other = [chance.choice(words) if chance.random() < share else word for word in one]
    return " ".join(one)[:10_000], " ".join(other)[:10_000]


def rows_of_words(words: int, every: int) -> tuple[str, str]:
    """10,000 characters in lines, and the same with the first word of so many of them changed."""
    chance = random.Random(5)
    rows = [[f"w{chance.randrange(500)}" for _ in range(words)] for _ in range(6_000 // words)]
    other = [["new", *row[1:]] if n % every == 0 else row for n, row in enumerate(rows)]
    one, changed = ("\n".join(" ".join(row) for row in each)[:10_000] for each in (rows, other))
    return one, changed


class Site:
    """A team with one editor, and the clients of the site and of the bare view."""

    def __init__(self) -> None:
        from bare_view import ROWS, bare_client
        from django.test import Client

        from evalsite.gunicorn_conf import keep_what_is_loaded
        from scoring.models import Member, Role, Team, User

        self.team = Team.objects.create(name="Limits", slug="limits")
        user = User.objects.create(email="a@example.org")
        Member.objects.create(team=self.team, user=user, role=Role.EDITOR)
        self.version("for the bare view", [{"input": SENTENCE} for _ in range(ROWS)])
        keep_what_is_loaded()
        self._client = Client()
        self._client.force_login(user)
        self._bare = bare_client(user)

    def bare(self) -> None:
        self._bare.get("/")

    def page(self, address: str) -> Act:
        """Asks for the page, which has been asked for before."""

        def ask() -> None:
            if (status := self._client.get(address).status_code) != 200:
                raise SystemExit(f"{address} answers {status}")

        ask()
        return ask

    def try_scorer(self) -> None:
        """As htmx does while somebody types."""
        from django.urls import reverse

        address = reverse("new_scorer", args=[self.team.slug, "levenshtein"])
        fields = {"threshold": "0.7", "try-output": "helo", "try-expected": "hello", "try": "typed"}
        headers = {"HX-Request": "true", "HX-Target": "tried"}
        if (status := self._client.post(address, fields, headers=headers).status_code) != 200:
            raise SystemExit(f"{address} answers {status}")

    def version(self, name: str, cases: list[dict[str, Any]]) -> Any:
        from tests.support.datasets import published_version

        return published_version(self.team, cases, name)


def of_cases(site: Site) -> Iterator[Limit]:
    """The page of a case: long texts, 10 MB, many leaves; and a scorer that is tried."""
    from django.urls import reverse

    def address(made: Any, query: str = "", position: int = 1) -> str:
        return reverse("run_case", args=[made.uuid, position]) + query

    texts = run_of_texts(site)
    for mode in MODES:
        for layout in LAYOUTS:
            query = f"?diff={mode}&layout={layout}"
            few = site.page(address(texts, query + "&space=on", 1))
            many = site.page(address(texts, query + "&space=on", 2))
            yield Limit(f"case of 10,000 characters by {mode}, {layout}, to a few", 2.5, few, many)
            name = f"case of 10 MB by {mode}, {layout}"
            yield in_loops(name, 1.0, site.page(address(texts, query, 3)))
    for query in ("?diff=markdown", "?diff=matches"):
        yield in_loops(f"case of 10 MB, {query[6:]}", 1.0, site.page(address(texts, query, 3)))
    few_leaves, many_leaves = (run_of_leaves(site, count) for count in (3, 2_000))
    for mode in ("line", "path"):
        few = site.page(address(few_leaves, f"?diff={mode}"))
        many = site.page(address(many_leaves, f"?diff={mode}"))
        yield Limit(f"case of 2,000 leaves by {mode}, to 3", 5, few, many)
    yield in_loops("case of 10 MB of JSON", 1.0, site.page(address(run_of_leaves(site, 700_000))))
    yield in_loops("a scorer tried while somebody types", 0.2, site.try_scorer)


def run_of_texts(site: Site) -> Any:
    """A few characters, 10,000 and 10 MB, each with another output."""
    from tests.support.datasets import ready_outputs
    from tests.support.run_states import finished_run

    words = re.findall(r"\w+", SENTENCE)
    one, other = (
        " ".join(words[n * n * step % 17 % len(words)] for n in range(2_200))[:10_000]
        for step in (1, 5)
    )
    pairs = [
        ("one", "two"),
        (one, other),
        ("zebra and horse\n" * 650_000, "horses, a zebra\n" * 650_000),
    ]
    version = site.version("texts", [{"input": "?", "expected": expected} for expected, _ in pairs])
    outputs = ready_outputs(version, [output for _, output in pairs])
    return finished_run(outputs, ("says", "includes", {"values": ["ZEBRA", "nowhere"]}))


def run_of_leaves(site: Site, count: int) -> Any:
    """One case of JSON whose output differs in its last leaf."""
    from tests.support.datasets import ready_outputs
    from tests.support.run_states import finished_run

    items = [{"id": n, "name": f"item {n}", "price": n * 1.5} for n in range(count // 3)]
    expected, output = ({"items": items, "last": last} for last in ("end", "END"))
    version = site.version(f"{count} leaves", [{"input": "?", "expected": expected}])
    outputs = ready_outputs(version, [json.dumps(output, separators=(",", ":"))])
    return finished_run(outputs, ("leaves", "json_similarity", {}))


def of_pages(site: Site) -> Iterator[Limit]:
    """Pages of runs of 2,000 cases and of a series of 52, as multiples of the bare view."""
    from scoring.engine.compare.comparison import compare_runs
    from scoring.engine.drift import measure_series
    from tests.support.finished_runs import run_with

    cases = [{"key": f"q{n}", "input": f"zebra {n}", "tags": ["all"]} for n in range(CASES)]
    version = site.version("large", cases)
    baseline, candidate = (
        run_with(version, {"close": [score] * CASES, "far": [0.9] * CASES}, name=f"{score}")
        for score in (0.9, 0.2)
    )
    compare_runs(baseline, candidate)
    measure_series(version.dataset, "a")
    found = addresses(candidate, baseline) | {"drift": addresses(series_of(site, 52))["drift"]}
    for name, times in PAGES.items():
        yield Limit(f"{name}, to a bare view", times, site.bare, site.page(found[name]))


def of_history(site: Site) -> Iterator[Limit]:
    """Pages after 300 runs of a series, as multiples of the same after 50."""
    short, long = (addresses(series_of(site, count)) for count in (50, 300))
    for name in ("dataset", "case", "run", "drift"):  # the others are of the team, which has both
        reference, act = site.page(short[name]), site.page(long[name])
        yield Limit(f"{name} after 300 runs, to 50", HISTORY, reference, act)


def series_of(site: Site, count: int) -> Any:
    """The latest of so many weekly runs of a dataset of its own, all of them measured."""
    from tests.support.drift_runs import measured_weeks

    cases = [{"key": f"q{n}", "tags": ["billing"]} for n in range(4)]
    return measured_weeks(site.version(f"{count} runs", cases), count)


def addresses(run: Any, baseline: Any = None) -> dict[str, str]:
    """Of the pages that show the run, and those of its dataset and team."""
    from django.urls import reverse

    dataset = run.output_set.version.dataset
    found = {
        "home": reverse("team_home", args=[run.team.slug]),
        "runs": reverse("runs", args=[run.team.slug]),
        "dataset": reverse("dataset", args=[dataset.uuid]),
        "case": reverse("run_case", args=[run.uuid, 2]),
        "run": reverse("run", args=[run.uuid]),
        "drift": reverse("dataset_drift", args=[dataset.uuid]) + "?scorer=close",
        "drift of a team": reverse("team_drift", args=[run.team.slug]),
    }
    if baseline:
        query = urlencode({"baseline": baseline.uuid, "candidate": run.uuid, "kind": "broke"})
        found["compare"] = f"{reverse('compare', args=[run.team.slug])}?{query}"
    return found


if __name__ == "__main__":
    sys.exit(main())
