"""The site's addresses: pages, API, sign-in and Django's admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("evalsite.pages.urls")),
    path("api/", include("evalsite.api.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
]

handler400 = "evalsite.pages.problems.unreadable"
