"""Editing cases in the browser: a draft collects the edits, publishing makes them a version."""

from scoring.engine.drafts.carving import carve, sample_of
from scoring.engine.drafts.content import CaseTexts, ContentError
from scoring.engine.drafts.edits import (
    DraftError,
    StaleError,
    add_case,
    begin,
    delete_case,
    discard,
    restore,
    revert,
    save_case,
)
from scoring.engine.drafts.publishing import done_errand, publish, rebase
from scoring.engine.drafts.tagging import tag_cases

__all__ = [
    "CaseTexts",
    "ContentError",
    "DraftError",
    "StaleError",
    "add_case",
    "begin",
    "carve",
    "delete_case",
    "discard",
    "done_errand",
    "publish",
    "rebase",
    "restore",
    "revert",
    "sample_of",
    "save_case",
    "tag_cases",
]
