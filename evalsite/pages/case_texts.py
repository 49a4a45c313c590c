"""The texts of one case as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scoring.core.shown import Shown, shown, written
from scoring.models import Case


@dataclass(frozen=True)
class CaseTexts:
    """What a case itself holds. `rest` ends the address at which a text is opened whole."""

    case: Case
    rest: str = ""

    @cached_property
    def whole(self) -> dict[str, str]:
        """The texts there are, by name; what is absent is not here, an empty text is."""
        case = self.case
        texts = {"input": written(case.input)}
        if case.has_expected:
            texts["expected"] = written(case.expected)
        texts |= {f"reference-{n}": text for n, text in enumerate(case.references, start=1)}
        return texts | ({"metadata": written(case.metadata)} if case.metadata else {})

    @property
    def input(self) -> Shown:
        return shown(self.whole["input"])

    @property
    def expected(self) -> Shown | None:
        return shown(self.whole["expected"]) if "expected" in self.whole else None

    @property
    def references(self) -> list[tuple[str, Shown]]:
        """Each with the name by which it is opened whole."""
        names = [name for name in self.whole if name.startswith("reference-")]
        return [(name, shown(self.whole[name])) for name in names]

    @cached_property
    def metadata(self) -> list[tuple[str, Shown]]:
        """Each value with its name."""
        return [(name, shown(written(value))) for name, value in self.case.metadata.items()]

    @property
    def is_metadata_cut(self) -> bool:
        return any(value.hidden for _, value in self.metadata)
