"""The scorers of a combination as a tree of forms, to any depth.

Every node sends a hidden `node` of the shape `TOKEN:PARENT:TYPE[:gone]`, parents before their
parts and parts in their order; its fields are named `nTOKEN-…`. So the tree comes back as it was
shown, whatever it was, and a button adds, removes or moves without a script.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from django import forms

from evalsite.pages.scorers.config_fields import CONFIG, ConfigForm
from evalsite.pages.scorers.model_fields import ModelOptions
from evalsite.pages.web.fields import NameField
from scoring.core.configured import configure_child
from scoring.core.contract import ConfigError
from scoring.core.json_text import to_text
from scoring.core.registry import ScorerType, all_types
from scoring.core.scorers.combinations import MAX_DEPTH, MAX_WEIGHT, CombineConfig

ROOT: Final = "0"
MAX_NODES: Final = 100  # a larger combination is edited as JSON
NODE_FIELD: Final = "node"  # the name of the hidden fields
_NODE: Final = re.compile(r"([1-9]\d{0,3}):(\d{1,4}):([a-z][a-z0-9_]{0,63})(:gone)?")
_SCORER_PATH: Final = re.compile(r"scorers\[(\d+)\](?:\.(.*))?", re.DOTALL)


class NodeForm(ConfigForm):
    """Name, weight and settings of one scorer inside a combination."""

    use_required_attribute = False  # a part that was removed is not to hold up the others

    name = NameField(max_length=120, required=False)
    weight = forms.FloatField(
        min_value=0, max_value=MAX_WEIGHT, widget=forms.NumberInput(attrs={"step": "any"})
    )

    def __init__(
        self,
        data: Any,
        *,
        kind: ScorerType,
        offer: Callable[[], ModelOptions],
        part: Mapping[str, Any],
        token: str,
    ) -> None:
        self.kind, self.offer = kind, offer
        start = {"name": part.get("name", ""), "weight": to_text(part.get("weight", 1))}
        super().__init__(data, prefix=f"n{token}", initial=start, auto_id="id_%s")
        self.fields["name"].widget.attrs["placeholder"] = kind.name
        self.add_settings(part.get("config"))

    def clean_weight(self) -> float:
        """1 if the parent does not use weights, and so none was sent."""
        weight: float | None = self.cleaned_data["weight"]
        if weight is not None and weight <= 0:
            raise forms.ValidationError("A weight is above 0.")
        return 1.0 if weight is None else weight

    def part(self) -> dict[str, Any]:
        """The node as the config holds it, without its parts. Only for a valid form."""
        defaults = {spec.name: spec.default for spec in self.specs() if not spec.required}
        config = {
            name: value
            for name, value in self.settings().items()
            if name not in defaults or value != defaults[name]
        }
        whole = {"type": self.kind.name, "name": self.cleaned_data["name"], "config": config}
        return whole | {"weight": self.cleaned_data["weight"]}


class Problem(NamedTuple):
    """What is wrong in a node: the field's label, its id, the text."""

    label: str
    anchor: str
    text: str


@dataclass
class Node:
    """One scorer of the tree, with its own parts where it is a combination."""

    token: str
    form: NodeForm
    level: int  # how many combinations enclose it
    parent: Node | None = None
    is_removed: bool = False  # it can be restored until the form is saved
    parts: list[Node] = field(default_factory=list)

    @property
    def kind(self) -> ScorerType:
        return self.form.kind

    @property
    def is_combination(self) -> bool:
        return issubclass(self.kind.config, CombineConfig)

    @property
    def line(self) -> str:
        """The value of its hidden field."""
        parent = self.parent.token if self.parent else ROOT
        return f"{self.token}:{parent}:{self.kind.name}{':gone' * self.is_removed}"

    @property
    def has_weight(self) -> bool:
        """Whether the combination that encloses it uses weights."""
        return self.form.fields["weight"].required

    @property
    def types(self) -> list[ScorerType]:
        """The types that may be added below it; none unless it is a combination."""
        return types_at(self.level + 1) if self.is_combination else []

    @property
    def title(self) -> str:
        """Its name as typed, else its type's label."""
        return str(self.form["name"].value() or self.kind.label)

    @cached_property
    def visible_fields(self) -> list[forms.BoundField]:
        """The settings that are always visible: required, changed or invalid."""
        return [bound for bound, is_open in self._settings() if is_open]

    @cached_property
    def folded(self) -> list[forms.BoundField]:
        """The settings that hold their defaults."""
        return [bound for bound, is_open in self._settings() if not is_open]

    def _settings(self) -> Iterator[tuple[forms.BoundField, bool]]:
        for spec in self.form.specs():
            bound = self.form[CONFIG + spec.name]
            is_changed = bound.initial != spec.default
            if self.form.is_bound:
                default = bound.field.prepare_value(spec.default)
                is_changed = bound.field.has_changed(default, bound.value())
            yield bound, bool(spec.required or bound.errors or is_changed)

    def walk(self) -> Iterator[Node]:
        """Itself and what stands below it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def part(self) -> dict[str, Any]:
        """The node as the config holds it, with its parts. Only for a valid node."""
        whole = self.form.part()
        if self.is_combination:
            parts = (part for part in self.parts if not part.is_removed)
            whole["config"] |= {"scorers": [part.part() for part in parts]}
        return whole

    def check(self) -> None:
        """Validate its fields and all nodes below it."""
        for part in self.parts:
            if not part.is_removed:
                part.check()
        if self.form.is_valid() and not self.is_combination:
            try:
                configure_child(self.kind.name, self.form.part()["config"])
            except ConfigError as fault:
                self.form.show_setting_errors(fault.errors)

    def show_error(self, path: str, texts: Sequence[str]) -> None:
        """Add an error of the config, by its path inside this part."""
        inner = path.removeprefix("config.").removeprefix("config")
        if match := _SCORER_PATH.fullmatch(inner):
            show_error(self.parts, match, texts)
        elif path in {"name", "weight"}:
            self.form.add_error(path, list(texts))
        else:
            self.form.show_setting_errors({inner or "type": list(texts)})

    def problems(self) -> Iterator[Problem]:
        """The errors of the node and those below it; none of a removed part."""
        if self.is_removed:
            return
        for name, texts in self.form.errors.items():
            label = f", {self.form[name].label}" if name in self.form.fields else ""
            anchor = self.form[name].auto_id if label else f"node-{self.token}"
            yield from (Problem(self.title + label, anchor, str(text)) for text in texts)
        for part in self.parts:
            yield from part.problems()


def show_error(parts: Sequence[Node], match: re.Match[str], texts: Sequence[str]) -> None:
    """Add an error at `scorers[2].…`; the index counts the parts that are not removed."""
    remaining = [part for part in parts if not part.is_removed]
    remaining[int(match[1])].show_error(match[2] or "", texts)


class Tree:
    """The parts of a combination that is being edited."""

    def __init__(self, kind: ScorerType, offer: Callable[[], ModelOptions]) -> None:
        self.kind, self._offer, self._is_checked = kind, offer, False
        self.parts: list[Node] = []
        self.errors: list[str] = []  # of the combination as a whole
        self.rendered: dict[Hashable, tuple[str, str]] = {}  # what many parts of a page share

    @classmethod
    def from_config(
        cls,
        kind: ScorerType,
        offer: Callable[[], ModelOptions],
        scorers: Sequence[Mapping[str, Any]],
    ) -> Tree:
        """The tree of a config whose types are all known, see `fits_tree`."""
        tree = cls(kind, offer)
        tree._grow(None, scorers)
        return tree

    @classmethod
    def from_data(cls, kind: ScorerType, offer: Callable[[], ModelOptions], data: Any) -> Tree:
        """The tree of a submitted form; malformed lines are ignored."""
        tree, types = cls(kind, offer), all_types()
        nodes: dict[str, Node | None] = {ROOT: None}
        for line in data.getlist(NODE_FIELD)[:MAX_NODES]:
            match = _NODE.fullmatch(line)
            if match is None:
                continue
            token, parent_token, type_name, removed = match.groups()
            if token in nodes or parent_token not in nodes or type_name not in types:
                continue
            parent, part = nodes[parent_token], types[type_name]
            if _may_hold(parent, part):
                nodes[token] = node = tree._add_node(token, data, part, parent)
                node.is_removed = bool(removed)
        return tree

    def _grow(self, parent: Node | None, scorers: Sequence[Mapping[str, Any]]) -> None:
        for part in scorers:
            token, kind = self._free_token(), all_types()[part["type"]]
            node = self._add_node(token, None, kind, parent, part)
            if node.is_combination:
                self._grow(node, part.get("config", {}).get("scorers", ()))

    def _add_node(
        self,
        token: str,
        data: Any,
        kind: ScorerType,
        parent: Node | None,
        part: Mapping[str, Any] | None = None,
    ) -> Node:
        form = NodeForm(data, kind=kind, offer=self._offer, part=part or {}, token=token)
        form.fields["weight"].required = (parent or self).kind.name == "weighted"
        node = Node(token, form, parent.level + 1 if parent else 1, parent)
        (parent.parts if parent else self.parts).append(node)
        return node

    def walk(self) -> Iterator[Node]:
        for part in self.parts:
            yield from part.walk()

    @property
    def is_full(self) -> bool:
        return sum(1 for _ in self.walk()) >= MAX_NODES

    def change(self, command: str) -> None:
        """Do `add:TOKEN:TYPE`, `remove:TOKEN`, `restore:TOKEN`, `up:TOKEN` or `down:TOKEN`.

        A command that cannot be carried out changes nothing.
        """
        action, _, rest = command.partition(":")
        token, _, type_name = rest.partition(":")
        nodes = {node.token: node for node in self.walk()}
        if action == "add":
            self._add(nodes.get(token), token, type_name)
        elif (node := nodes.get(token)) and action in {"up", "down"}:
            self._move(node, -1 if action == "up" else 1)
        elif node and action in {"remove", "restore"}:
            node.is_removed = action == "remove"

    def _add(self, parent: Node | None, token: str, type_name: str) -> None:
        kind = all_types().get(type_name)
        parent_exists = token == ROOT or parent is not None
        if kind and parent_exists and _may_hold(parent, kind) and not self.is_full:
            node = self._add_node(self._free_token(), None, kind, parent)
            node.form.fields["name"].widget.attrs["autofocus"] = True

    def _free_token(self) -> str:
        return str(max((int(node.token) for node in self.walk()), default=0) + 1)

    def _siblings(self, node: Node) -> list[Node]:
        return node.parent.parts if node.parent else self.parts

    def _move(self, node: Node, step: int) -> None:
        """Move it past the next sibling that is not removed."""
        siblings = self._siblings(node)
        remaining = [sibling for sibling in siblings if not sibling.is_removed]
        position = remaining.index(node) + step if node in remaining else -1
        if 0 <= position < len(remaining):
            target = siblings.index(remaining[position])
            siblings.remove(node)
            siblings.insert(target, node)

    def forget_errors(self) -> None:
        """Show what was submitted without validating it."""
        for node in self.walk():
            node.form.forget_errors()
        self.errors, self._is_checked = [], True

    def is_valid(self) -> bool:
        if not self._is_checked:
            self._is_checked = True
            for part in self.parts:
                if not part.is_removed:
                    part.check()
        return not any(self.problems())

    def scorers(self) -> list[dict[str, Any]]:
        return [part.part() for part in self.parts if not part.is_removed]

    def show_errors(self, errors: Mapping[str, list[str]]) -> None:
        """Add each error of the whole config to its node."""
        for path, texts in errors.items():
            if match := _SCORER_PATH.fullmatch(path):
                show_error(self.parts, match, texts)
            else:
                self.errors += texts

    def problems(self) -> Iterator[Problem]:
        for text in self.errors:
            yield Problem("Scorers", "tree", text)
        for part in self.parts:
            yield from part.problems()


def _may_hold(parent: Node | None, kind: ScorerType) -> bool:
    """Whether a part of this type may be added below the parent, None being the root."""
    level = parent.level + 1 if parent else 1
    return (parent is None or parent.is_combination) and kind in types_at(level)


def types_at(level: int) -> list[ScorerType]:
    """The types allowed at this depth; combinations nest to MAX_DEPTH."""
    is_last = level >= MAX_DEPTH
    types = all_types().values()
    return [kind for kind in types if not (is_last and kind.family == "combinator")]


def fits_tree(scorers: Any) -> bool:
    """Whether a config's scorers can be edited as a tree: known types, and not too many."""
    count, rows = 0, [scorers]
    while rows:
        for part in rows.pop():
            count += 1
            if part.get("type") not in all_types() or count > MAX_NODES:
                return False
            rows.append(part.get("config", {}).get("scorers", ()))
    return True
