"""Chat models as judges: endpoints, their guard, calls and replies."""
