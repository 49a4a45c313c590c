"""The addresses of single sign-on, under /accounts/."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.account.sso import views

urlpatterns = [
    path("sso/", views.sign_in, name="sso"),
    path("sso/callback/", views.callback, name="sso_callback"),
    path("sso/connect/", views.connect_account, name="sso_connect"),
]
