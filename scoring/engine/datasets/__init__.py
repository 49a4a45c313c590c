"""What becomes of a dataset as a whole: its name and its archiving."""
