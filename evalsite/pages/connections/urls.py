"""The addresses of connections."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.connections import views as connections

urlpatterns = [
    path("teams/<slug:slug>/connections/", connections.connections, name="connections"),
    path("teams/<slug:slug>/connections/new/", connections.new_connection, name="new_connection"),
    path("teams/<slug:slug>/connections/<uuid:uid>/", connections.connection, name="connection"),
    path(
        "teams/<slug:slug>/connections/<uuid:uid>/test/",
        connections.test_connection,
        name="test_connection",
    ),
    path(
        "teams/<slug:slug>/connections/<uuid:uid>/default/",
        connections.default_connection,
        name="default_connection",
    ),
    path(
        "teams/<slug:slug>/connections/<uuid:uid>/remove/",
        connections.remove_connection,
        name="remove_connection",
    ),
]
