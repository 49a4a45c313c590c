"""Reports to hand out: one HTML file of a run or of a comparison, that needs no server."""
