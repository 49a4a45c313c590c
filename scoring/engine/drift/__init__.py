"""Drift: runs of a dataset in time, for each scorer and series a line of points."""

from scoring.engine.drift.line import Line, lines_of
from scoring.engine.drift.measure import done_errand, measure
from scoring.engine.drift.point import Break, Point

__all__ = ["Break", "Line", "Point", "done_errand", "lines_of", "measure"]
