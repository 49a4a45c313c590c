"""Part of a version as a dataset of its own: the cases of a tag, or a sample."""

from __future__ import annotations

import random
from collections.abc import Collection

from django.db import IntegrityError, transaction

from scoring.engine.drafts import case_copy
from scoring.engine.drafts.edits import DraftError
from scoring.engine.imports import cleanup as import_cleanup
from scoring.engine.imports import near_duplicates
from scoring.models import AuditEntry, Dataset, DatasetVersion, User
from scoring.models.data.dataset import CaseQuerySet


def sample_positions(cases: CaseQuerySet, n: int, seed: int) -> list[int]:
    """The positions of n of these cases, in order; the same seed draws the same ones.

    Every case when there are no more than n.
    """
    positions = sorted(cases.order_by().values_list("position", flat=True))
    if len(positions) <= n:
        return positions
    return sorted(random.Random(seed).sample(positions, n))  # noqa: S311  no secret


def split_dataset(
    version: DatasetVersion, positions: Collection[int], name: str, source: str, by: User | None
) -> Dataset:
    """A new dataset of these cases of the version, under the same keys, in the same order.

    `source` says where they come from. Raises DraftError for a name that is taken, and where
    there is no case.
    """
    if not positions:
        raise DraftError("No case is chosen.")
    team = version.dataset.team
    try:
        with transaction.atomic():
            dataset = Dataset.objects.create(team=team, name=name.strip(), created_by=by)
    except IntegrityError:
        raise DraftError(f"There is a dataset called “{name}” already.") from None
    part = DatasetVersion.with_loading.create(
        dataset=dataset, source_name=source[:255], created_by=by
    )
    try:
        cases = enumerate(case_copy.iterate_cases(version), start=1)
        chosen = set(positions)
        copied = case_copy.store_copies(
            part, (case for position, case in cases if position in chosen)
        )
        with transaction.atomic():
            part.publish(content_hash=copied.content_hash, case_count=copied.case_count)
            near_duplicates.enqueue_search(part)
            new = {"version": 1, "cases": copied.case_count, "from": source}
            AuditEntry.objects.record(team, by, "dataset.created", dataset, new=new)
    except BaseException:
        import_cleanup.remove_version(part)
        raise
    return dataset
