"""Mail: sent by the worker, within a time limit, and tried again while it fails."""
