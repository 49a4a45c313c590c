"""Sign-off: what people decide of broken cases, and of runs."""
