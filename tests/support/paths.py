"""Where the checkout lies, and the tests of a module in it."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


def path_of_test(module: Path, root: Path = ROOT) -> Path:
    """The folders of tests mirror the source, without its first level."""
    folder = Path(*module.relative_to(root).parent.parts[1:])
    return root / "tests" / folder / f"test_{module.name}"
