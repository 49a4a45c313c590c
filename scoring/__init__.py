"""Everything computed and stored: the pure core, the rows, the engine that joins them."""
