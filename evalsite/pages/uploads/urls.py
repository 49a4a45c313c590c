"""The addresses of uploads."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.uploads import views as uploads

urlpatterns = [
    path("teams/<slug:slug>/datasets/upload/", uploads.new_upload, name="new_upload"),
    path("uploads/<uuid:uid>/", uploads.upload, name="upload"),
    path("uploads/<uuid:uid>/load/", uploads.load_upload, name="load_upload"),
    path("uploads/<uuid:uid>/undo/", uploads.undo_import, name="undo_upload"),
    path("uploads/<uuid:uid>/cancel/", uploads.cancel_upload, name="cancel_upload"),
]
