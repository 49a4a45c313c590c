"""The pages of thresholds beside the bare view of `bare_view.py`.

    python benchmarks/thresholds.py [--size 100000] [--rounds 9]

Three runs of a suite with three scorers, one of them over several trials a case, and 500 reviews
of the first. Prints a Markdown table; in a round each page is asked for once, in turn.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import Any

from rounds import Round, measure, ms_cells, print_head, print_machine, print_row, ratio_cell

REVIEWS = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure_pages(arguments.size, arguments.rounds)
        print_machine()


def measure_pages(size: int, rounds: int) -> None:
    from bare_view import bare_client
    from compare import make_runs
    from django.conf import settings
    from django.test import Client

    from scoring.models import Member, Role, User

    settings.ALLOWED_HOSTS = ["*"]
    _, run, _, tried = make_runs(size, with_trials=True)
    user = User.objects.create_user("alice@example.org", "x")
    Member.objects.create(team=run.team, user=user, role=Role.ADMIN)
    review(run, user)
    client = Client()
    client.force_login(user)
    bare, pages = bare_client(user), addresses(run, tried)
    for url in pages.values():
        if client.get(url).status_code != 200:
            raise SystemExit(f"{url} does not answer")
    times: dict[str, list[Round]] = {name: [] for name in ("bare view", *pages)}
    for _ in range(rounds):
        times["bare view"].append(measure(lambda: bare.get("/")))
        for name, url in pages.items():
            times[name].append(measure(lambda url=url: client.get(url)))
    print(f"\n{size:,} cases\n")
    print_head("page", "ms", "CPU ms", "other programs", "of the bare view")
    for name, measured in times.items():
        print_row(name, *ms_cells(measured), ratio_cell(measured, times["bare view"]))


def review(run: Any, user: Any) -> None:
    from scoring.models import Output, Review, ReviewVerdict

    outputs = Output.objects.filter(output_set=run.output_set_id).order_by("pk")[:REVIEWS]
    Review.objects.bulk_create(
        Review(
            output=output,
            output_set=run.output_set,
            reviewer=user,
            verdict=ReviewVerdict.PASS if number % 3 else ReviewVerdict.FAIL,
        )
        for number, output in enumerate(outputs)
    )


def addresses(run: Any, tried: Any) -> dict[str, str]:
    from django.urls import reverse

    entry = run.suite.entries.select_related("scorer").get(scorer__name="levenshtein")
    suite, scorer = run.suite.uuid, entry.scorer.uuid
    one = reverse("suite_threshold", args=[suite, scorer])
    several = reverse("suite_thresholds", args=[suite])
    effects = reverse("run_threshold_effects", args=[run.uuid])
    return {
        "suite": reverse("suite", args=[suite]),
        "threshold": one,
        "threshold, few flips": f"{one}?threshold=0.71&run={run.uuid}",
        "threshold, many flips": f"{one}?threshold=0.3&run={run.uuid}",
        "threshold, flips of a run with trials": f"{one}?threshold=0.71&run={tried.uuid}",
        "several thresholds": f"{several}?threshold-{scorer}=0.71",
        "gates and comparison, few flips": f"{effects}?threshold-{scorer}=0.71",
        "gates and comparison, many flips": f"{effects}?threshold-{scorer}=0.3",
    }


if __name__ == "__main__":
    main()
