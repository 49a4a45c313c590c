"""A whole site in one file: made while it runs, restored into an unused data folder."""

from scoring.engine.backups.archive import BackupError, Manifest
from scoring.engine.backups.backup import make_backup
from scoring.engine.backups.restore import restore_backup

__all__ = ["BackupError", "Manifest", "make_backup", "restore_backup"]
