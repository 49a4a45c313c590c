"""The parser of expressions: it compiles one into a function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.scorers.cel import lexer
from scoring.core.scorers.cel.functions import (
    FUNCTIONS,
    OPERATORS,
    EvaluationError,
    Meter,
    check_size,
    get_member,
    negative,
    require_boolean,
)
from scoring.core.scorers.cel.lexer import SyntaxProblemError, Token

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


class Expression(NamedTuple):
    """A compiled part of the expression. `nodes` is what one evaluation of it costs."""

    run: Run
    nodes: int = 1
    height: int = 1
    select: tuple[Run, str] | None = None  # of `x.key`, for has()


class Program(NamedTuple):
    """A compiled expression. `variables` are the names it uses."""

    run: Run
    variables: frozenset[str]

    def evaluate(self, variables: Mapping[str, Json]) -> Json:
        """Its value. Raises EvaluationError, or CaseProblem for limits and bad variables."""
        return self.run(Scope(variables))


def compile_expression(source: str, names: Collection[str]) -> Program:
    """The program of an expression over variables of these names. Raises SyntaxProblemError."""
    reader = _Reader(lexer.tokenize(source), names)
    part = reader.expression()
    reader.expect("the end")
    return Program(part.run, frozenset(reader.used))


class _Reader:
    def __init__(self, tokens: list[Token], names: Collection[str]) -> None:
        self.tokens = tokens
        self.names = names
        self.position = 0
        self.brackets = 0
        self.locals: list[str] = []
        self.used: set[str] = set()

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def accept(self, *marks: str) -> str:
        """The mark that comes next, taken, or an empty text."""
        token = self.token
        if token.text not in marks or token.kind not in ("mark", "name", "end"):
            return ""
        self.position += 1
        return token.text

    def expect(self, mark: str) -> None:
        if self.token.kind == "end" and mark == "the end":
            return
        if not self.accept(mark):
            raise self.problem(f"expected {mark} but found {self.token.text[:20]}")

    def problem(self, why: str) -> SyntaxProblemError:
        return SyntaxProblemError(f"{why} (character {self.token.position + 1})")

    def join(self, run: Run, *parts: Expression) -> Expression:
        height = 1 + max((part.height for part in parts), default=0)
        if height > MAX_HEIGHT:
            raise self.problem("too many operators in a row")
        return Expression(run, 1 + sum(part.nodes for part in parts), height)

    @contextmanager
    def nested(self) -> Iterator[None]:
        self.brackets += 1
        if self.brackets > MAX_BRACKETS:
            raise self.problem(f"nested deeper than {MAX_BRACKETS} levels")
        yield
        self.brackets -= 1

    def expression(self) -> Expression:
        with self.nested():
            part = self.binary(1)
            return self.choice(part) if self.accept("?") else part

    def choice(self, condition: Expression) -> Expression:
        yes = self.expression()
        self.expect(":")
        no = self.expression()

        def run(scope: Scope) -> Json:
            return yes.run(scope) if require_boolean(condition.run(scope)) else no.run(scope)

        return self.join(run, condition, yes, no)

    def binary(self, level: int) -> Expression:
        left = self.unary()
        while (mark := self.token.text) in _LEVELS and self.token.kind in ("mark", "name"):
            if _LEVELS[mark] < level:
                break
            self.position += 1
            left = self.operation(mark, left, self.binary(_LEVELS[mark] + 1))
        return left

    def operation(self, mark: str, left: Expression, right: Expression) -> Expression:
        if mark in ("&&", "||"):
            return self.join(_logic(left.run, right.run, decisive=mark == "||"), left, right)
        work = OPERATORS[mark]

        def run(scope: Scope) -> Json:
            return work(scope.meter, left.run(scope), right.run(scope))

        return self.join(run, left, right)

    def unary(self) -> Expression:
        mark = self.accept("!", "-")
        if not mark:
            return self.members(self.primary())
        with self.nested():
            inner = self.unary()
        if mark == "!":
            return self.join(lambda scope: not require_boolean(inner.run(scope)), inner)
        return self.join(lambda scope: negative(inner.run(scope)), inner)

    def members(self, part: Expression) -> Expression:
        while mark := self.accept(".", "["):
            part = self.member(part) if mark == "." else self.item(part)
        return part

    def item(self, target: Expression) -> Expression:
        key = self.expression()
        self.expect("]")
        return self.join(lambda scope: get_member(target.run(scope), key.run(scope)), target, key)

    def member(self, target: Expression) -> Expression:
        name = self.name()
        if not self.accept("("):
            part = self.join(lambda scope: get_member(target.run(scope), name), target)
            return part._replace(select=(target.run, name))
        if name in _MACROS:
            return self.macro(name, target)
        return self.call(name, [target])

    def name(self) -> str:
        if self.token.kind != "name":
            raise self.problem("expected a name")
        self.position += 1
        return self.tokens[self.position - 1].text

    def primary(self) -> Expression:
        token = self.token
        self.position += 1
        if token.kind == "number":
            return _constant(lexer.number(token.text))
        if token.kind == "text":
            return _constant(lexer.text_value(token.text))
        if token.kind == "name":
            return self.name_or_call(token.text)
        if token.text == "(":
            return self.close(self.expression(), ")")
        if token.text == "[":
            return self.list_of()
        if token.text == "{":
            return self.object_of()
        self.position -= 1
        raise self.problem(f"found {token.text[:20]} where a value should be")

    def close(self, part: Expression, mark: str) -> Expression:
        self.expect(mark)
        return part._replace(select=None)

    def name_or_call(self, name: str) -> Expression:
        if name in _CONSTANTS:
            return _constant(_CONSTANTS[name])
        if self.accept("("):
            return self.has() if name == "has" else self.call(name, [])
        if name in self.locals:
            return Expression(lambda scope: scope.locals[name])
        if name not in self.names:
            self.position -= 1
            raise self.problem(f"there is no variable {name}")
        self.used.add(name)
        return Expression(lambda scope: check_size(scope.variables[name]))

    def has(self) -> Expression:
        part = self.expression()
        self.expect(")")
        if part.select is None:
            raise self.problem("has() asks for a key: has(output_json.name)")
        holder, key = part.select

        def run(scope: Scope) -> bool:
            value = holder(scope)
            return isinstance(value, dict) and key in value

        return self.join(run, part)

    def call(self, name: str, parts: list[Expression]) -> Expression:
        parts = [*parts, *self.comma_separated(")")]
        if name not in FUNCTIONS:
            raise self.problem(f"there is no function {name}")
        work, wanted = FUNCTIONS[name]
        if len(parts) != wanted:
            raise self.problem(f"{name}() takes {wanted} values, not {len(parts)}")

        def run(scope: Scope) -> Json:
            return work(scope.meter, *[part.run(scope) for part in parts])

        return self.join(run, *parts)

    def comma_separated(self, end: str) -> list[Expression]:
        parts: list[Expression] = []
        while not self.accept(end):
            parts.append(self.expression())
            if not self.accept(","):
                self.expect(end)
                break
        return parts

    def list_of(self) -> Expression:
        parts = self.comma_separated("]")
        return self.join(lambda scope: check_size([part.run(scope) for part in parts]), *parts)

    def object_of(self) -> Expression:
        pairs: list[tuple[str, Expression]] = []
        while not self.accept("}"):
            if self.token.kind != "text":
                raise self.problem("keys of an object are texts")
            self.position += 1
            key = lexer.text_value(self.tokens[self.position - 1].text)
            self.expect(":")
            pairs.append((key, self.expression()))
            if not self.accept(","):
                self.expect("}")
                break
        parts = [part for _, part in pairs]
        return self.join(lambda scope: {key: part.run(scope) for key, part in pairs}, *parts)

    def macro(self, name: str, target: Expression) -> Expression:
        if len(self.locals) >= MAX_MACROS:
            raise self.problem(f"{name}() is nested deeper than {MAX_MACROS}")
        local = self.name()
        self.expect(",")
        self.locals.append(local)
        bodies = self.comma_separated(")")
        self.locals.pop()
        if len(bodies) not in ((1, 2) if name == "map" else (1,)):
            raise self.problem(f"{name}() takes a name and an expression")
        work, cost = _MACROS[name], 1 + sum(body.nodes for body in bodies)

        def run(scope: Scope) -> Json:
            outer = scope.locals
            items = _iterate(scope, _items(target.run(scope)), local, cost)
            try:
                return work(scope, items, *[body.run for body in bodies])
            finally:
                scope.locals = outer

        return self.join(run, target, *bodies)


def _constant(value: Json) -> Expression:
    return Expression(lambda _: value)


def _logic(left: Run, right: Run, *, decisive: bool) -> Run:
    """And, or: an error on one side does not matter where the other side is decisive."""

    def run(scope: Scope) -> bool:
        try:
            if require_boolean(left(scope)) is decisive:
                return decisive
        except EvaluationError:
            if require_boolean(right(scope)) is decisive:
                return decisive
            raise
        return require_boolean(right(scope))

    return run


def _items(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value)
    if not isinstance(value, list):
        raise EvaluationError("only lists and objects can be gone through")
    return value


def _iterate(scope: Scope, items: list[Json], name: str, cost: int) -> Iterator[Json]:
    """Bind each item to the local name in turn."""
    outer = scope.locals
    for item in items:
        scope.meter.spend(cost)
        scope.locals = {**outer, name: check_size(item)}
        yield item


def _decide(scope: Scope, items: Iterator[Json], holds: Run, *, decisive: bool) -> bool:
    """As with and, or: one item may decide in spite of errors at others."""
    problem: EvaluationError | None = None
    for _ in items:
        try:
            if require_boolean(holds(scope)) is decisive:
                return decisive
        except EvaluationError as fault:
            problem = fault
    if problem is not None:
        raise problem
    return not decisive


def _exists_one(scope: Scope, items: Iterator[Json], holds: Run) -> bool:
    return sum(require_boolean(holds(scope)) for _ in items) == 1


def _filter(scope: Scope, items: Iterator[Json], holds: Run) -> list[Json]:
    return [item for item in items if require_boolean(holds(scope))]


def _map(scope: Scope, items: Iterator[Json], *runs: Run) -> list[Json]:
    """`map(x, result)`, or `map(x, condition, result)`."""
    *conditions, result = runs
    return [result(scope) for _ in items if all(require_boolean(run(scope)) for run in conditions)]


_MACROS: Final[Mapping[str, Callable[..., Json]]] = {
    "all": partial(_decide, decisive=False),
    "exists": partial(_decide, decisive=True),
    "exists_one": _exists_one,
    "filter": _filter,
    "map": _map,
}
