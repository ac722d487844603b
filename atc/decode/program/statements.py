"""`Statements`: what one further statement of a program may be, given the program so far."""

from __future__ import annotations

import ast
import keyword
from dataclasses import dataclass

from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.errors import Undecodable
from atc.decode.grammar import Grammar, Pattern
from atc.decode.program.answers import answers
from atc.decode.program.beginning import Level, Unreadable, read_beginning
from atc.decode.program.calls import Calls, Known
from atc.decode.program.comparisons import Tests
from atc.decode.program.given import Given
from atc.decode.program.lines import Lines, endless
from atc.decode.program.nodes import Part, Rules, either, row
from atc.decode.program.terms import Terms
from atc.decode.program.view import Reader, View
from protocols.parsing import parse
from protocols.toolbox import Toolbox

FENCE = "```"
"""How a program ends."""

_BUILTINS = (
    "abs", "all", "any", "bool", "dict", "enumerate", "filter", "float", "id", "input", "int", "len", "list", "map",
    "max", "min", "next", "open", "print", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type",
    "zip",
)  # fmt: skip
"""Names that a program does not take for its own variables."""
_EACH = 100
"""Characters of a statement, on average: a program of few long ones ends sooner."""


@dataclass(frozen=True, slots=True)
class Step:
    """What may come next: one statement with its indentation and its newline, or the end, which is written `FENCE`.

    `may_end` says that the end is among it, `must_end` that nothing else is; `depth` is how many blocks are open.
    """

    grammar: Grammar
    may_end: bool
    must_end: bool
    depth: int


class Statements:
    """The statements that can follow in a program over `tools`, known anew after each from what is in scope.

    `task` is the text of the task: an argument that is an id, and of which no value is at hand, is then written with
    the task's words.
    """

    def __init__(self, tools: Toolbox, *, bounds: Bounds = BOUNDS, task: str = "") -> None:
        """Raises `Undecodable` for a tool whose arguments nothing can be written for."""
        self._tools, self._bounds = tools, bounds
        self._known = Known(tools, Given(task), bounds)
        reserved = {word for word in (*keyword.kwlist, *_BUILTINS, *tools) if word[:1].islower()}
        self._name = Pattern(r"[a-z][a-z0-9_]{0,30}", never=("|".join(sorted(reserved)),))
        self._reader = Reader()

    def next(self, source: str) -> Step:
        """What may follow `source`: whole lines, each of a statement or of the header of a block.

        Raises:
            Undecodable: `source` is no beginning of a program.
        """
        try:
            beginning = read_beginning(source, self._tools)
        except Unreadable as error:
            raise Undecodable(str(error), hint="Give the program up to the end of a statement.") from error
        levels, printed = beginning.levels, answers(beginning.tree.body)
        last = source.rstrip("\n").rpartition("\n")[2].lstrip()
        count = sum(1 for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#"))
        closing = count >= self._bounds.statements or len(source) > _EACH * self._bounds.statements
        rules = Rules()
        choices: list[Part] = []
        number = len(levels) - 1
        while number >= 0:
            lines = self._lines(levels, number, rules)
            choices.append(lines.statement(printed=printed, closing=closing))
            if number == len(levels) - 1 and not closing and not last.startswith("#"):
                choices.append(lines.comment())
            if number and not (lines.level.lines and not endless(levels, number)):
                break
            if number and lines.level.keyword == "try":
                choices.append(lines.handler(levels[number - 1].indent))
                break
            if number and lines.level.otherwise is not None and not closing:
                choices.append(self._branch(levels, number, rules))
            number -= 1
        may_end = printed and number < 0
        node = either(*([] if may_end and closing else choices), FENCE if may_end else None)
        if node is None:
            raise Undecodable("no statement can follow here.", hint="Give the program other tools.")
        return Step(Grammar(node, rules.made), may_end, may_end and closing, len(levels) - 1)

    def unheld(self, source: str) -> tuple[str, ...]:
        """Clauses of the tools that `source` calls which no grammar holds, as `book/properties/tags: uniqueItems`.

        The host holds each call to them when it is made.
        """
        tools = [one for one in self._known.tools if any(argument.unheld for argument in one.arguments)]
        called = {node.id for node in ast.walk(parse(source)) if isinstance(node, ast.Name)} if tools else set()
        arguments = (argument for one in tools if one.tool.alias in called for argument in one.arguments)
        return tuple(clause for argument in arguments for clause in argument.unheld)

    def _branch(self, levels: tuple[Level, ...], number: int, rules: Rules) -> Part:
        """`elif …:` and `else:` after the block of a test, knowing that it failed."""
        level = levels[number]
        margin = levels[number - 1].indent
        if level.otherwise is None or not level.otherwise.reached:
            return None
        view = View(level.otherwise, self._tools, self._reader)
        terms = Terms(view, rules, f"e{number}_", self._bounds, self._known.given)
        return row(margin, either(row("elif ", Tests(terms).test()), "else"), ":\n")

    def _lines(self, levels: tuple[Level, ...], number: int, rules: Rules) -> Lines:
        tag = f"l{number}_"
        view = View(levels[number].inside, self._tools, self._reader)
        terms = Terms(view, rules, tag, self._bounds, self._known.given)
        calls = Calls(self._known, view, rules, tag, terms.template())
        return Lines(levels, number, terms, calls, self._name, self._bounds)
