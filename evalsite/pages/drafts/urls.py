"""The addresses of a dataset's draft."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.drafts import tagging
from evalsite.pages.drafts import views as drafts

urlpatterns = [
    path("datasets/<uuid:uid>/draft/", drafts.draft, name="draft"),
    path("datasets/<uuid:uid>/draft/case/", drafts.draft_case, name="draft_case"),
    path("datasets/<uuid:uid>/draft/delete/", drafts.delete_draft_case, name="delete_draft_case"),
    path("datasets/<uuid:uid>/draft/revert/", drafts.revert_draft_case, name="revert_draft_case"),
    path("datasets/<uuid:uid>/draft/tags/", tagging.tag_cases, name="tag_cases"),
    path("datasets/<uuid:uid>/draft/publish/", drafts.publish_draft, name="publish_draft"),
    path("datasets/<uuid:uid>/draft/move/", drafts.move_draft, name="move_draft"),
    path("datasets/<uuid:uid>/draft/discard/", drafts.discard_draft, name="discard_draft"),
    path("datasets/<uuid:uid>/draft/restore/", drafts.restore_draft, name="restore_draft"),
]
