"""Editing cases in the browser: a draft collects the edits, publishing makes them a version."""

from scoring.engine.drafts.case_content import CaseTexts, ContentError
from scoring.engine.drafts.edits import (
    DraftError,
    StaleError,
    add_case,
    delete_case,
    discard,
    open_draft,
    restore,
    revert,
    save_case,
)
from scoring.engine.drafts.publishing import publish, rebase
from scoring.engine.drafts.split import sample_of, split_dataset
from scoring.engine.drafts.tagging import tag_cases

__all__ = [
    "CaseTexts",
    "ContentError",
    "DraftError",
    "StaleError",
    "add_case",
    "delete_case",
    "discard",
    "open_draft",
    "publish",
    "rebase",
    "restore",
    "revert",
    "sample_of",
    "save_case",
    "split_dataset",
    "tag_cases",
]
