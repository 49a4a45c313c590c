"""One page of a list of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import QuerySet
from django.http import QueryDict

from evalsite.pages.web.keyset import KeysetPage, keyset_page
from scoring.models import Run
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.relabel import attach_later_labels


def list_runs(runs: QuerySet[Run], query: QueryDict) -> KeysetPage[Run]:
    """The page of these runs that the query names, the newest first, with what a table of runs
    shows: output set, version and dataset, `is_baseline`, `later_labels`.

    Two queries, and one for later labels. The ids are found first: that alone differs from list
    to list.
    """
    page = keyset_page(runs.only("pk"), "-id", query)
    rows = _shown_runs([run.pk for run in page.rows])
    attach_later_labels(rows)
    return replace(page, rows=rows)


@prepared_query
def _shown_runs(ids: Sequence[int]) -> QuerySet[Run]:
    runs = Run.with_deleted.filter(pk__in=ids).for_list()
    return runs.only(
        "uuid", "name", "state", "created_at", "finished_at", "archived_at", "deleted_at",
        "pass_count", "fail_count", "error_count", "skipped_count", "suite_name",
        "output_set__series", "output_set__dated", "output_set__version__number",
        "output_set__version__dataset__name", "output_set__version__dataset__latest__number",
    )  # fmt: skip
