"""The same case in the run that it is compared with, and its place in that comparison's list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.http import Http404, QueryDict

from evalsite import access
from evalsite.pages.case_against import AUTO, against_of
from evalsite.pages.case_list import Around
from evalsite.pages.compare_urls import KEPT, case_url, compare_url
from evalsite.pages.forms.compare import KINDS, PairForm
from scoring.models import CaseVerdict, Output, Run, RunScorer, Score, User, Verdict
