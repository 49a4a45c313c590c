"""Reading an expression into a function that evaluates it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple

from scoring.core.cel import syntax
from scoring.core.cel.syntax import SyntaxProblemError, Token
from scoring.core.cel.values import (
    FUNCTIONS,
    OPERATORS,
    EvaluationError,
    Meter,
    bounded,
    member,
    negative,
    truth,
)
from scoring.core.contract import Json

MAX_BRACKETS: Final = 50  # one inside the other
MAX_HEIGHT: Final = 150  # operators that wait for each other
MAX_MACROS: Final = 2  # one inside the other

_LEVELS: Final = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("*/%", 5),
}
_CONSTANTS: Final[Mapping[str, Json]] = {"true": True, "false": False, "null": None}


class Scope:
    """The values one evaluation sees, and what it may still spend."""

    def __init__(self, variables: Mapping[str, Json]) -> None:
        self.variables = variables
        self.locals: dict[str, Json] = {}
        self.meter = Meter()


Run = Callable[[Scope], Json]


class Part(NamedTuple):
    """A read part of the expression. `nodes` is what one evaluation of it costs."""

    run: Run
    nodes: int = 1
    height: int = 1
    select: tuple[Run, str] | None = None  # of `x.key`, for has()


class Program(NamedTuple):
    """A readable expression. `variables` are the names it uses."""

    run: Run
    variables: frozenset[str]

    def evaluate(self, variables: Mapping[str, Json]) -> Json:
        """Its value. Raises EvaluationError, or CaseProblem for limits and bad variables."""
        return self.run(Scope(variables))


def read(source: str, names: Collection[str]) -> Program:
    """The program of an expression over variables of these names. Raises SyntaxProblemError."""
    reader = _Reader(syntax.tokens(source), names)
    part = reader.expression()
    reader.expect("the end")
    return Program(part.run, frozenset(reader.used))


class _Reader:
    def __init__(self, tokens: list[Token], names: Collection[str]) -> None:
        self.tokens = tokens
        self.names = names
        self.at = 0
        self.brackets = 0
        self.locals: list[str] = []
        self.used: set[str] = set()

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def accept(self, *marks: str) -> str:
        """The mark that comes next, taken, or an empty text."""
        token = self.token
        if token.text not in marks or token.kind not in ("mark", "name", "end"):
            return ""
        self.at += 1
        return token.text

    def expect(self, mark: str) -> None:
        if self.token.kind == "end" and mark == "the end":
            return
        if not self.accept(mark):
            raise self.problem(f"expected {mark} but found {self.token.text[:20]}")

    def problem(self, why: str) -> SyntaxProblemError:
        return SyntaxProblemError(f"{why} (character {self.token.place + 1})")

    def joined(self, run: Run, *parts: Part) -> Part:
        height = 1 + max((part.height for part in parts), default=0)
        if height > MAX_HEIGHT:
            raise self.problem("too many operators in a row")
        return Part(run, 1 + sum(part.nodes for part in parts), height)

    def expression(self) -> Part:
        self.brackets += 1
        if self.brackets > MAX_BRACKETS:
            raise self.problem(f"nested deeper than {MAX_BRACKETS} levels")
        part = self.binary(1)
        if self.accept("?"):
            part = self.choice(part)
        self.brackets -= 1
        return part

    def choice(self, condition: Part) -> Part:
        yes = self.expression()
        self.expect(":")
        no = self.expression()

        def run(scope: Scope) -> Json:
            return yes.run(scope) if truth(condition.run(scope)) else no.run(scope)

        return self.joined(run, condition, yes, no)

    def binary(self, level: int) -> Part:
        left = self.unary()
        while (mark := self.token.text) in _LEVELS and self.token.kind in ("mark", "name"):
            if _LEVELS[mark] < level:
                break
            self.at += 1
            left = self.operation(mark, left, self.binary(_LEVELS[mark] + 1))
        return left

    def operation(self, mark: str, left: Part, right: Part) -> Part:
        if mark in ("&&", "||"):
            return self.joined(_logic(left.run, right.run, settles=mark == "||"), left, right)
        work = OPERATORS[mark]

        def run(scope: Scope) -> Json:
            return work(scope.meter, left.run(scope), right.run(scope))

        return self.joined(run, left, right)

    def unary(self) -> Part:
        mark = self.accept("!", "-")
        if not mark:
            return self.members(self.primary())
        inner = self.unary_inside()
        if mark == "!":
            return self.joined(lambda scope: not truth(inner.run(scope)), inner)
        return self.joined(lambda scope: negative(inner.run(scope)), inner)

    def unary_inside(self) -> Part:
        self.brackets += 1
        if self.brackets > MAX_BRACKETS:
            raise self.problem(f"nested deeper than {MAX_BRACKETS} levels")
        inner = self.unary()
        self.brackets -= 1
        return inner

    def members(self, part: Part) -> Part:
        while mark := self.accept(".", "["):
            part = self.dotted(part) if mark == "." else self.indexed(part)
        return part

    def indexed(self, target: Part) -> Part:
        key = self.expression()
        self.expect("]")
        return self.joined(lambda scope: member(target.run(scope), key.run(scope)), target, key)

    def dotted(self, target: Part) -> Part:
        name = self.name()
        if not self.accept("("):
            part = self.joined(lambda scope: member(target.run(scope), name), target)
            return part._replace(select=(target.run, name))
        if name in _MACROS:
            return self.macro(name, target)
        return self.call(name, [target])

    def name(self) -> str:
        if self.token.kind != "name":
            raise self.problem("expected a name")
        self.at += 1
        return self.tokens[self.at - 1].text

    def primary(self) -> Part:
        token = self.token
        self.at += 1
        if token.kind == "number":
            return _constant(syntax.number(token.text))
        if token.kind == "text":
            return _constant(syntax.text_value(token.text))
        if token.kind == "name":
            return self.named(token.text)
        if token.text == "(":
            return self.closed(self.expression(), ")")
        if token.text == "[":
            return self.list_of()
        if token.text == "{":
            return self.object_of()
        self.at -= 1
        raise self.problem(f"found {token.text[:20]} where a value should be")

    def closed(self, part: Part, mark: str) -> Part:
        self.expect(mark)
        return part._replace(select=None)

    def named(self, name: str) -> Part:
        if name in _CONSTANTS:
            return _constant(_CONSTANTS[name])
        if self.accept("("):
            return self.has() if name == "has" else self.call(name, [])
        if name in self.locals:
            return Part(lambda scope: scope.locals[name])
        if name not in self.names:
            self.at -= 1
            raise self.problem(f"there is no variable {name}")
        self.used.add(name)
        return Part(lambda scope: bounded(scope.variables[name]))

    def has(self) -> Part:
        part = self.expression()
        self.expect(")")
        if part.select is None:
            raise self.problem("has() asks for a key: has(output_json.name)")
        holder, key = part.select

        def run(scope: Scope) -> bool:
            value = holder(scope)
            return isinstance(value, dict) and key in value

        return self.joined(run, part)

    def call(self, name: str, parts: list[Part]) -> Part:
        parts = [*parts, *self.listed(")")]
        if name not in FUNCTIONS:
            raise self.problem(f"there is no function {name}")
        work, wanted = FUNCTIONS[name]
        if len(parts) != wanted:
            raise self.problem(f"{name}() takes {wanted} values, not {len(parts)}")

        def run(scope: Scope) -> Json:
            return work(scope.meter, *[part.run(scope) for part in parts])

        return self.joined(run, *parts)

    def listed(self, end: str) -> list[Part]:
        parts: list[Part] = []
        while not self.accept(end):
            parts.append(self.expression())
            if not self.accept(","):
                self.expect(end)
                break
        return parts

    def list_of(self) -> Part:
        parts = self.listed("]")
        return self.joined(lambda scope: bounded([part.run(scope) for part in parts]), *parts)

    def object_of(self) -> Part:
        pairs: list[tuple[str, Part]] = []
        while not self.accept("}"):
            if self.token.kind != "text":
                raise self.problem("keys of an object are texts")
            self.at += 1
            key = syntax.text_value(self.tokens[self.at - 1].text)
            self.expect(":")
            pairs.append((key, self.expression()))
            if not self.accept(","):
                self.expect("}")
                break
        parts = [part for _, part in pairs]
        return self.joined(lambda scope: {key: part.run(scope) for key, part in pairs}, *parts)

    def macro(self, name: str, target: Part) -> Part:
        if len(self.locals) >= MAX_MACROS:
            raise self.problem(f"{name}() is nested deeper than {MAX_MACROS}")
        local = self.name()
        self.expect(",")
        self.locals.append(local)
        bodies = self.listed(")")
        self.locals.pop()
        if len(bodies) not in ((1, 2) if name == "map" else (1,)):
            raise self.problem(f"{name}() takes a name and an expression")
        work, cost = _MACROS[name], 1 + sum(body.nodes for body in bodies)

        def run(scope: Scope) -> Json:
            outer = scope.locals
            visits = _visits(scope, _items(target.run(scope)), local, cost)
            try:
                return work(scope, visits, *[body.run for body in bodies])
            finally:
                scope.locals = outer

        return self.joined(run, target, *bodies)


def _constant(value: Json) -> Part:
    return Part(lambda _: value)


def _logic(left: Run, right: Run, *, settles: bool) -> Run:
    """And, or: an error on one side does not matter where the other side settles it."""

    def run(scope: Scope) -> bool:
        try:
            if truth(left(scope)) is settles:
                return settles
        except EvaluationError:
            if truth(right(scope)) is settles:
                return settles
            raise
        return truth(right(scope))

    return run


def _items(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value)
    if not isinstance(value, list):
        raise EvaluationError("only lists and objects can be gone through")
    return value


def _visits(scope: Scope, items: list[Json], name: str, cost: int) -> Iterator[Json]:
    """The items one after the other, each under its name while it is looked at."""
    outer = scope.locals
    for item in items:
        scope.meter.spend(cost)
        scope.locals = {**outer, name: bounded(item)}
        yield item


def _all(scope: Scope, visits: Iterator[Json], holds: Run) -> bool:
    return _settled(scope, visits, holds, settles=False)


def _exists(scope: Scope, visits: Iterator[Json], holds: Run) -> bool:
    return _settled(scope, visits, holds, settles=True)


def _settled(scope: Scope, visits: Iterator[Json], holds: Run, *, settles: bool) -> bool:
    """As with and, or: one item may settle it in spite of errors at others."""
    problem: EvaluationError | None = None
    for _ in visits:
        try:
            if truth(holds(scope)) is settles:
                return settles
        except EvaluationError as fault:
            problem = fault
    if problem is not None:
        raise problem
    return not settles


def _exists_one(scope: Scope, visits: Iterator[Json], holds: Run) -> bool:
    return sum(truth(holds(scope)) for _ in visits) == 1


def _filter(scope: Scope, visits: Iterator[Json], holds: Run) -> list[Json]:
    return [item for item in visits if truth(holds(scope))]


def _map(scope: Scope, visits: Iterator[Json], *runs: Run) -> list[Json]:
    """`map(x, result)`, or `map(x, condition, result)`."""
    *conditions, result = runs
    return [result(scope) for _ in visits if all(truth(run(scope)) for run in conditions)]


_MACROS: Final[Mapping[str, Callable[..., Json]]] = {
    "all": _all,
    "exists": _exists,
    "exists_one": _exists_one,
    "filter": _filter,
    "map": _map,
}
