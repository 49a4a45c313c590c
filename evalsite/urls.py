"""The site's addresses: pages, API, sign-in and Django's admin."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.account.views import reauthenticate
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import include, path
from django.views.generic import RedirectView

from evalsite.pages.account.adapters import change_admin_password, page_not_found, sign_in_to_admin
from evalsite.pages.account.new_address import confirm_address, new_address
from evalsite.pages.account.profile import profile
from evalsite.pages.account.second_factors import atomic_post, in_transactions
from evalsite.pages.account.sessions import Sessions, end_session
from evalsite.pages.account.signing_in import SignIn
from evalsite.rendering.assets import asset_file

admin.site.login = sign_in_to_admin  # type: ignore[method-assign]
admin.site.password_change = change_admin_password  # type: ignore[assignment,method-assign]

# Nothing here has groups or further addresses, and their pages would leave no audit entry.
admin.site.unregister([Group, EmailAddress, Authenticator, UserSession])
admin.site.unregister([SocialAccount, SocialApp, SocialToken])

#: allauth's pages that the site has no use for: an account has one address and one password.
UNUSED = ["confirm-email/", "login/code/confirm/", "password/set/", "3rdparty/signup/", "3rdparty/"]
UNUSED += ["3rdparty/login/error/", "3rdparty/login/cancelled/"]
UNUSED += [
    f"social/{page}/" for page in ("login/cancelled", "login/error", "signup", "connections")
]
#: In place of allauth's own.
ACCOUNTS = [
    path("login/", SignIn.as_view(), name="account_login"),
    path("reauthenticate/", atomic_post(reauthenticate), name="account_reauthenticate"),
    path("2fa/webauthn/", RedirectView.as_view(pattern_name="mfa_index"), name="mfa_list_webauthn"),
    path("2fa/", include(in_transactions("allauth.mfa.urls"))),
    path("sessions/", Sessions.as_view(), name="usersessions_list"),
    path("sessions/<int:pk>/end/", end_session, name="end_session"),
    path("profile/", profile, name="profile"),
    path("email/", new_address, name="account_email"),
    path("email/confirm/<str:address_key>/", confirm_address, name="confirm_address"),
]

urlpatterns = [
    path("assets/<str:name>", asset_file, name="asset"),
    path("", include("evalsite.pages.urls")),
    path("api/", include("evalsite.api.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include([path(route, page_not_found) for route in UNUSED])),
    path("accounts/", include(ACCOUNTS)),
    path("accounts/", include("allauth.urls")),
]

handler400 = "evalsite.pages.web.error_pages.bad_request"
handler500 = "evalsite.pages.web.error_pages.internal_error"
