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
from scoring.engine.imports.reader import MAX_ROWS, Reading
from scoring.engine.imports.report import RefusedError, Report, StoppedError
from scoring.engine.imports.upload_storage import Preview, preview, receive
from scoring.engine.imports.uploads import (
    Watch,
    cancel,
    check,
    inspect_upload,
    load,
    load_file,
    load_outputs_file,
    request_check,
    request_load,
)
from scoring.engine.imports.writer import Loaded

__all__ = [
    "MAX_ROWS",
    "BodyError",
    "BodyProblem",
    "Loaded",
    "Preview",
    "Reading",
    "RefusedError",
    "Report",
    "StoppedError",
    "StoredRows",
    "Watch",
    "cancel",
    "check",
    "close_outputs",
    "inspect_upload",
    "load",
    "load_file",
    "load_outputs_file",
    "preview",
    "receive",
    "remove_abandoned",
    "request_check",
    "request_load",
    "stage_of",
    "store_cases",
    "store_outputs",
]
