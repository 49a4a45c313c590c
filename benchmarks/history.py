"""What a page costs after 50 runs of a series and after 500: its processor time, as a ratio.

    python benchmarks/history.py [--rounds 15] [--kept FOLDER]

Two datasets of a few cases, each with one series of weekly runs, in two teams on a fresh SQLite
file. Each page of the long history is asked for in turn with that of the short one. `--kept` leaves
the runs in a folder and measures those that it holds already. Prints a Markdown table: median and
minimum, and the ratio of both.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rounds import ms_cells, print_head, print_machine, print_row, ratio_cell

CASES = 20
RUNS = (50, 500)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kept", type=Path, help="a folder for the runs, to measure them again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = str(arguments.kept or folder)
        os.environ["EVALSITE_ALLOWED_HOSTS"] = "testserver"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(arguments.rounds)


def measure(rounds: int) -> None:
    from django.test import Client

    from evalsite.gunicorn_conf import keep_what_is_loaded
    from scoring.models import Member, Role, Team, User

    user, _ = User.objects.get_or_create(email="a@example.org")
    short, long = (pages_after(count) for count in RUNS)
    for team in Team.objects.all():
        Member.objects.get_or_create(team=team, user=user, role=Role.EDITOR)
    keep_what_is_loaded()
    client = Client()
    client.force_login(user)
    print_head("page", "CPU after 50 runs, ms", "after 500, ms", "ratio", "other programs")
    for name in short:
        print_row(name, *compare(client, short[name], long[name], rounds))
    print_machine()


def compare(client: Any, short: str, long: str, rounds: int) -> list[str]:
    """Cells of a table: processor time of both, its ratio, the share of other programs."""
    from pages import timed

    for url in (short, long):
        if (status := client.get(url).status_code) != 200:
            raise SystemExit(f"{url} answers {status}")
    asked = [(timed(client, short), timed(client, long)) for _ in range(rounds)]
    one, other = zip(*asked, strict=True)
    _, after_short, _ = ms_cells(one)
    _, after_long, programs = ms_cells(other)
    return [after_short, after_long, ratio_cell(other, one), programs]


def pages_after(count: int) -> Mapping[str, str]:
    """The address of each page of a dataset with so many runs, by its name."""
    from django.urls import reverse

    from scoring.models import Run

    dataset = series_of(count)
    runs = Run.objects.filter(output_set__version__dataset=dataset).order_by("output_set__dated")
    team, last = dataset.team.slug, runs.last()
    drift, form = reverse("dataset_drift", args=[dataset.uuid]), reverse("compare", args=[team])
    return {
        "home": reverse("team_home", args=[team]),
        "runs": reverse("runs", args=[team]),
        "dataset": reverse("dataset", args=[dataset.uuid]),
        "run": reverse("run", args=[last.uuid]),
        "case": reverse("run_case", args=[last.uuid, 3]),
        "compare, the form": form,
        "compare, the form of the dataset": f"{form}?dataset={dataset.uuid}",
        "drift of a team": reverse("team_drift", args=[team]),
        "drift, a line": f"{drift}?scorer=close",
        "drift, two lines": drift,
    }


def series_of(count: int) -> Any:
    """The dataset with so many runs, made where it is not there yet."""
    from drift import make_series

    from scoring.engine.drift import measure_series as measure_drift
    from scoring.models import Dataset

    team = f"after-{count}"
    dataset = Dataset.objects.filter(team__slug=team).first()
    if dataset is None:
        dataset = make_series(CASES, count, team)
        measure_drift(dataset, "a")
    return dataset


if __name__ == "__main__":
    main()
