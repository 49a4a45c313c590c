"""How PostgreSQL finds the rows that the pages of large runs show.

    python benchmarks/on_postgresql.py plans.py [--size 1000000] [--only PART]

Asks for each page of `pages.py` and explains its statements. Prints, as a Markdown table, of each
page the time and the number of its statements, and of the one that reads most rows of the large
tables: its time, those rows, and the scans from the outermost in, an index by its name.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pages import made, pages, signed_in
from rounds import new_site, print_head, print_machine, print_row

LARGE = ("scoring_case", "scoring_caseverdict", "scoring_output", "scoring_score")


class Plan(NamedTuple):
    """What a statement took, in ms, how many rows its scans gave, and how they found them."""

    took: float
    rows: int
    scans: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="a part of the names of the pages to explain")
    arguments = parser.parse_args()
    os.environ["EVALSITE_ALLOWED_HOSTS"] = "testserver"
    with new_site():
        explain_pages(arguments.size, arguments.only)


def explain_pages(size: int, only: str) -> None:
    from django.db import connection

    if connection.vendor != "postgresql":
        raise SystemExit(__doc__)
    runs = made(size)
    client, _ = signed_in()
    print(f"Cases: {runs.run.output_set.output_count:,}\n")
    print_head("page", "ms", "statements", "the one that reads most, ms", "rows", "scans")
    for name, url in pages(runs):
        if only in name:
            plans = [explain(*statement) for statement in statements(client, url)]
            most = max(plans, key=lambda plan: (plan.rows, plan.took))
            took = sum(plan.took for plan in plans)
            scans = ", ".join(dict.fromkeys(most.scans)).replace("scoring_", "")
            cells = len(plans), f"{most.took:,.1f}", f"{most.rows:,}", scans
            print_row(name, f"{took:,.1f}", *cells)
    print_machine()


def statements(client: Any, url: str) -> list[tuple[str, Any]]:
    """What the page asks the database, when it is asked for a second time."""
    from django.db import connection

    found: list[tuple[str, Any]] = []

    def keep(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        found.append((sql, parameters))
        return execute(sql, parameters, many, context)

    client.get(url)
    with connection.execute_wrapper(keep):
        answer = client.get(url)
    if answer.status_code != 200:
        raise SystemExit(f"{url} answers {answer.status_code}")
    return [(sql, parameters) for sql, parameters in found if sql.startswith(("SELECT", "WITH"))]


def explain(sql: str, parameters: Any) -> Plan:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", parameters)
        (answer,) = cursor.fetchone()
    top = answer[0]
    nodes = list(scans_of(top["Plan"]))
    rows = sum(int(node["Actual Rows"] * node["Actual Loops"]) for node in nodes)
    took = top["Planning Time"] + top["Execution Time"]
    return Plan(took, rows, [scan_text(node) for node in nodes])


def scans_of(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes that read one of the large tables; of a bitmap's two the one that names it."""
    if node.get("Relation Name") in LARGE:
        yield node
    for inner in node.get("Plans", []):
        yield from scans_of(inner)


def scan_text(node: dict[str, Any]) -> str:
    """“case_position_once” for an index, “all of scoring_case” for a table read from end to end."""
    if index := node.get("Index Name"):
        return str(index)
    if node["Node Type"] == "Bitmap Heap Scan":
        return f"{node['Relation Name']} by a bitmap"
    return f"all of {node['Relation Name']}"


if __name__ == "__main__":
    main()
