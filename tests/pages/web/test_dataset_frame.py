"""The tabs of a dataset count what they lead to."""

from __future__ import annotations

from typing import cast

from django.test import RequestFactory

from evalsite.pages.web.dataset_frame import dataset_frame
from evalsite.pages.web.responses import SignedInRequest
from scoring.models import Output, OutputSet, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with


def test_tabs_count_versions_outputs_and_runs(
    rf: RequestFactory, make_dataset: MakeDataset, alice: User, bob: User
) -> None:
    make_dataset([{}])
    version = make_dataset([{}])
    for name in ("w1", "w2"):
        run_with(version, {"close": [1.0]}, name=name)
    OutputSet.objects.create(version=version, series="loading")
    run_with(make_dataset([{}], "Other"), {"close": [1.0]})
    Run.objects.filter(name="w2").delete()
    for person, is_admin in ((alice, True), (bob, False)):
        request = rf.get("/")
        request.user = person
        frame = dataset_frame(cast("SignedInRequest", request), version.dataset, "runs")
        counts = [frame[f"{name}_count"] for name in ("version", "output_set", "run")]
        assert counts == [2, 2, 1]
        assert (frame["tab"], frame["draft"](), frame["may_administer"]) == ("runs", None, is_admin)
    assert Output.objects.count() == 3
