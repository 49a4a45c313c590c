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
    tag_cases,
)
from scoring.engine.drafts.publishing import (
    EDITED_AT_ONCE,
    done_errand,
    publish,
    rebase,
    release_abandoned,
    request_publish,
)

__all__ = [
    "EDITED_AT_ONCE",
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
    "release_abandoned",
    "request_publish",
    "restore",
    "revert",
    "sample_of",
    "save_case",
    "tag_cases",
]
