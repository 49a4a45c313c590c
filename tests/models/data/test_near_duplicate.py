"""What a case repeats or resembles, by its position."""

from __future__ import annotations

from scoring.models import VersionDuplicates
from scoring.models.data.near_duplicate import NearDuplicate
from tests.conftest import MakeDataset


def test_what_was_found_last_is_given_back(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}, {}, {}])
    found = VersionDuplicates.objects
    assert found.of(version) == {}
    found.keep(version, [(2, 1)], [(2, 1, 0.9), (3, 1, 0.8)])
    assert found.of(version) == {2: NearDuplicate(1, 1.0), 3: NearDuplicate(1, 0.8)}
    found.keep(version, [], [(3, 2, 0.85)])
    assert found.of(version) == {3: NearDuplicate(2, 0.85)}
