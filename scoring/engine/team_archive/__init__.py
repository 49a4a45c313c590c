"""A team as one file: taken along to another site, and equal there."""

from scoring.engine.team_archive.exporting import export_team
from scoring.engine.team_archive.importing import import_team
from scoring.engine.team_archive.layout import TeamArchiveError

__all__ = ["TeamArchiveError", "export_team", "import_team"]
