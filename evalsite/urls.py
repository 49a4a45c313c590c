"""The site's addresses: pages, API, sign-in and Django's admin."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import include, path

from evalsite.pages.account.adapters import change_admin_password, page_not_found, sign_in_to_admin
from evalsite.rendering.assets import asset_file

admin.site.login = sign_in_to_admin  # type: ignore[method-assign]
admin.site.password_change = change_admin_password  # type: ignore[assignment,method-assign]

# Nothing here has groups or further addresses, and their pages would leave no audit entry.
admin.site.unregister([Group, EmailAddress])

#: allauth's pages that the site has no use for: an account has one address and one password.
UNUSED = ["email/", "reauthenticate/", "confirm-email/", "login/code/confirm/", "password/set/"]

urlpatterns = [
    path("assets/<str:name>", asset_file, name="asset"),
    path("", include("evalsite.pages.urls")),
    path("api/", include("evalsite.api.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include([path(route, page_not_found) for route in UNUSED])),
    path("accounts/", include("allauth.urls")),
]

handler400 = "evalsite.pages.web.error_pages.bad_request"
handler500 = "evalsite.pages.web.error_pages.internal_error"
