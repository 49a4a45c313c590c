"""Drift: runs of a dataset in time, for each scorer and series a line of points."""

from scoring.engine.drift.breaks import Break
from scoring.engine.drift.line import DriftLine, drift_lines
from scoring.engine.drift.measurement import measure_series
from scoring.engine.drift.point import Point

__all__ = ["Break", "DriftLine", "Point", "drift_lines", "measure_series"]
