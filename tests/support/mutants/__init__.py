"""A fixed list of small faults; `python -m tests.support.mutants` tries whether tests see them."""
