"""A team as a whole: its members, how they come in, and its name."""
