"""The cases of a run: their list, each one's page, and what people say of it."""
