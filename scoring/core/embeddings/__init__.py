"""Text embeddings by a local model or an endpoint, and their cache."""
