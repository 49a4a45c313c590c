"""The addresses of waivers and release decisions."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.signoff import releases, waivers

urlpatterns = [
    path("datasets/<uuid:uid>/waivers/", waivers.dataset_waivers, name="dataset_waivers"),
    path("waivers/<uuid:uid>/end/", waivers.end_waiver, name="end_waiver"),
    path("waivers/<uuid:uid>/reopen/", waivers.reopen_waiver, name="reopen_waiver"),
    path("runs/<uuid:uid>/release/", releases.run_release, name="run_release"),
    path(
        "runs/<uuid:uid>/release/report/",
        releases.run_release_report,
        name="run_release_report",
    ),
    path(
        "runs/<uuid:uid>/release/withdraw/",
        releases.withdraw_run_release,
        name="withdraw_run_release",
    ),
]
