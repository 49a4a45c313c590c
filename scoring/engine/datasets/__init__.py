"""What becomes of a dataset as a whole: its name, the archive, deletion."""
