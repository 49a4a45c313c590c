"""Chat models: endpoints, the SSRF guard, calls and replies."""
