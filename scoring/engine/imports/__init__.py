"""The way of a file into rows: received, previewed, checked, stored whole or not at all."""

from scoring.engine.imports.cleanup import remove_abandoned
from scoring.engine.imports.json_body import (
    BodyError,
    BodyProblem,
    StoredRows,
    close_outputs,
    store_cases,
    store_outputs,
)
from scoring.engine.imports.rate_estimator import stage_of
from scoring.engine.imports.reader import MAX_ROWS, OpenFile
from scoring.engine.imports.report import ImportReport, RefusedError, StoppedError
from scoring.engine.imports.undo import can_undo, undo_import, undoable_imports
from scoring.engine.imports.upload_storage import Preview, fetch_file, preview_upload, store_upload
from scoring.engine.imports.uploads import (
    ImportObserver,
    cancel_upload,
    check_upload,
    import_file,
    import_outputs_file,
    import_upload,
    inspect_upload,
    is_as_checked,
    request_check,
    request_load,
)
from scoring.engine.imports.writer import ImportResult

__all__ = [
    "MAX_ROWS",
    "BodyError",
    "BodyProblem",
    "ImportObserver",
    "ImportReport",
    "ImportResult",
    "OpenFile",
    "Preview",
    "RefusedError",
    "StoppedError",
    "StoredRows",
    "can_undo",
    "cancel_upload",
    "check_upload",
    "close_outputs",
    "fetch_file",
    "import_file",
    "import_outputs_file",
    "import_upload",
    "inspect_upload",
    "is_as_checked",
    "preview_upload",
    "remove_abandoned",
    "request_check",
    "request_load",
    "stage_of",
    "store_cases",
    "store_outputs",
    "store_upload",
    "undo_import",
    "undoable_imports",
]
