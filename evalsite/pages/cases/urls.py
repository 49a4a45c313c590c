"""The addresses of a case in a run and of what people say of it."""

from __future__ import annotations

from typing import Final

from django.urls import path

from evalsite.pages.cases import views
from evalsite.pages.cases.feedback import comments, reviews

_CASE: Final = "runs/<uuid:uid>/cases/<int:position>"
_COMMENT: Final = f"{_CASE}/comments/<uuid:comment>"

urlpatterns = [
    path(f"{_CASE}/", views.case, name="run_case"),
    path(f"{_CASE}/review/", reviews.review_case, name="review_case"),
    path(f"{_CASE}/comments/", comments.add_comment, name="add_comment"),
    path(f"{_COMMENT}/edit/", comments.edit_comment, name="edit_comment"),
    path(f"{_COMMENT}/delete/", comments.delete_comment, name="delete_comment"),
    path(f"{_COMMENT}/restore/", comments.restore_comment, name="restore_comment"),
]
