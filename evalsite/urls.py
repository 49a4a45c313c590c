"""The site's addresses: pages, API, sign-in and Django's admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from evalsite.pages.accounts import nothing_here

urlpatterns = [
    path("", include("evalsite.pages.urls")),
    path("", include("evalsite.pages.case.urls")),
    path("", include("evalsite.pages.draft_urls")),
    path("", include("evalsite.pages.alert_urls")),
    path("api/", include("evalsite.api.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include([path("email/", nothing_here), path("", include("allauth.urls"))])),
]

handler400 = "evalsite.pages.problems.unreadable"
