"""Uploads are worked on in two states, and seen by their team."""

from __future__ import annotations

import pytest

from scoring.models import Team, Upload, UploadState, User


@pytest.mark.parametrize("state", list(UploadState))
def test_it_is_worked_on_while_it_is_checked_or_loaded(state: UploadState) -> None:
    assert Upload(state=state).is_working == (state in {"checking", "loading"})


def test_strangers_see_none(team: Team, bob: User, charlie: User) -> None:
    upload = Upload.objects.create(team=team, file_name="a.csv", size_bytes=1)
    assert list(Upload.objects.visible_to(bob)) == [upload]
    assert not Upload.objects.visible_to(charlie).exists()
