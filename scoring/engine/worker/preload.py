"""What every pool process needs, imported once in the fork server they are all forked from."""

from __future__ import annotations

import django

django.setup()

import rapidfuzz.distance  # noqa: E402, F401
import re2  # noqa: E402, F401

import scoring.core.config  # noqa: E402
import scoring.core.registry  # noqa: E402
import scoring.engine.runs.execution  # noqa: E402

scoring.core.config._adapter(scoring.core.config.Config)  # builds pydantic's machinery
scoring.core.registry.all_types()
