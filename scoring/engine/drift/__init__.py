"""Drift: runs of a dataset in time, for each scorer and series a line of points."""

from scoring.engine.drift.breaks import Break
from scoring.engine.drift.line import Line, lines_of
from scoring.engine.drift.measurement import measure
from scoring.engine.drift.point import Point

__all__ = ["Break", "Line", "Point", "lines_of", "measure"]
