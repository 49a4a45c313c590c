"""Texts as vectors: the model on this machine, an endpoint's models, and what is kept of both."""
