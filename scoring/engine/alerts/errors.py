"""What goes wrong with a message."""

from __future__ import annotations


class SendError(Exception):
    """Why a message was not taken; one that is worth no further try is `is_final`."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        super().__init__(text)
        self.text, self.is_final = text, is_final
