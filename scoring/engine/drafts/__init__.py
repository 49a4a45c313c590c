"""Editing cases in the browser: a draft collects the edits, publishing makes them a version."""

from scoring.engine.drafts.case_content import ContentError, TypedCase
from scoring.engine.drafts.edits import (
    DraftError,
    EditConflictError,
    add_case,
    delete_case,
    discard_draft,
    open_draft,
    restore_draft,
    revert_case,
    save_case,
)
from scoring.engine.drafts.publishing import publish_draft, rebase_draft
from scoring.engine.drafts.split import sample_positions, split_dataset
from scoring.engine.drafts.tagging import tag_cases

__all__ = [
    "ContentError",
    "DraftError",
    "EditConflictError",
    "TypedCase",
    "add_case",
    "delete_case",
    "discard_draft",
    "open_draft",
    "publish_draft",
    "rebase_draft",
    "restore_draft",
    "revert_case",
    "sample_positions",
    "save_case",
    "split_dataset",
    "tag_cases",
]
