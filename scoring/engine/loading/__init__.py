"""The way of a file into rows: received, previewed, checked, stored whole or not at all."""

from scoring.engine.loading.bodies import (
    BodyError,
    BodyProblem,
    Stored,
    close_outputs,
    store_cases,
    store_outputs,
)
from scoring.engine.loading.pace import stage_of
from scoring.engine.loading.reading import MAX_ROWS, Reading
from scoring.engine.loading.removal import sweep
from scoring.engine.loading.report import RefusedError, Report, StoppedError
from scoring.engine.loading.spool import Preview, preview, receive
from scoring.engine.loading.storing import Loaded
from scoring.engine.loading.work import (
    Watch,
    cancel,
    check,
    load,
    load_file,
    load_outputs_file,
    look,
    request_check,
    request_load,
)

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
    "Stored",
    "Watch",
    "cancel",
    "check",
    "close_outputs",
    "load",
    "load_file",
    "load_outputs_file",
    "look",
    "preview",
    "receive",
    "request_check",
    "request_load",
    "stage_of",
    "store_cases",
    "store_outputs",
    "sweep",
]
