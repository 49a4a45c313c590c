"""The sample file has two columns of outputs, so that it shows what an upload makes of them."""

from __future__ import annotations

from django.test import Client

from evalsite.pages.uploads.sample import sample_csv
from scoring.models import OutputSet, UploadState
from tests.pages.uploads.steps import checked, imported, sent


def test_several_output_columns_are_several_output_sets(browser: Client) -> None:
    upload = imported(browser, checked(browser, sent(browser, sample_csv())))
    assert upload.state == UploadState.DONE
    sets = OutputSet.objects.ready().order_by("id").values_list("series", "output_count")
    assert list(sets) == [("small model", 10), ("large model", 10)]
