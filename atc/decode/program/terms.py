"""Expressions by kind: numbers, texts, tests, lists, and values of any kind."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from atc.check.types import Library, Origin, Type
from atc.decode.bounds import Bounds
from atc.decode.grammar import Pattern
from atc.decode.program.alike import Alike
from atc.decode.program.given import Given
from atc.decode.program.nodes import Part, Rules, any_of, either, maybe, pattern, row, times
from atc.decode.program.places import kind_of
from atc.decode.program.view import View, single_quoted

if TYPE_CHECKING:
    from atc.decode.program.each import Each

NUMBER = Pattern(r"-?(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,6})?")
COUNT = Pattern(r"(?:0|[1-9][0-9]{0,4})")
STRING = Pattern(r"\"[^\"\\\n\r\t`\x00-\x1f]{0,80}\"|'[^'\\\n\r\t`\x00-\x1f]{0,80}'")
_FREE = r"[^\"'\\\n\r\t{}`\x00-\x1f]"
_CHUNK, _SHORT_CHUNK = Pattern(f"{_FREE}{{1,40}}"), Pattern(f"{_FREE}{{1,12}}")
_ARITHMETIC = Pattern(r" (?:\+|-|\*|/|//|%) ")
METHOD = Pattern(
    r"\.(?:lower|upper|strip|title|capitalize)\(\)|\[(?::[1-9][0-9]?|(?:0|[1-9][0-9]?):(?:[1-9][0-9]?)?)\]"
)
AGGREGATE = Pattern(r"(?:sum|min|max)\(")
EXTREME = Pattern(r"(?:min|max)\(")
CUT = Pattern(r"\[(?::-?[1-9][0-9]?|[1-9][0-9]?:(?:[1-9][0-9]?)?)\]")
_SPEC = Pattern(r":(?:,|,?\.[0-9][f%])")
"""No `:.2` alone, which integers do not take."""


class Terms:
    """The expressions that can be written at one point; every method gives a part of a grammar, None for nothing."""

    def __init__(self, view: View, rules: Rules, tag: str, bounds: Bounds, task: Given) -> None:
        self.view, self.rules, self.tag, self.bounds, self.task = view, rules, tag, bounds, task
        self.alike = Alike(view)
        self.more = bounds.operands - 1
        self.ids: Collection[Origin | None] = ()
        """Places in responses that hold ids."""
        self.each: Each | None = None
        """Expressions over the items of lists, once they are known."""
        self.given: Callable[[], Part] = lambda: None
        """Numbers that calls of tools give."""
        self.fetched: Callable[[], Part] = lambda: None
        """Anything that they give."""

    # Numbers.

    def number_paths(self) -> Part:
        """Variables and places that hold a number."""
        return self.rules.rule(f"{self.tag}numbers", lambda: pattern(self.view.kinds("int", "number")))

    def plain_number(self) -> Part:
        """A number without functions around it: `total + 1`, `a["x"] * 2`."""

        def make() -> Part:
            operand = self.rules.rule(f"{self.tag}operand", lambda: either(self.number_paths(), NUMBER, self.counted()))
            return row(operand, times(row(_ARITHMETIC, operand), 0, self.more))

        return self.rules.rule(f"{self.tag}plain", make)

    def counted(self) -> Part:
        """`len(x)` and sums of lists of numbers."""

        def make() -> Part:
            sized = pattern(self.view.where(lambda r: r.kind.name in ("list", "set", "map") and not r.kind.nullable))
            numbers = self.lists_of("number")
            return either(row("len(", sized, ")"), row(AGGREGATE, numbers, ")"))

        return self.rules.rule(f"{self.tag}counted", make)

    def lists_of(self, name: str) -> Part:
        """Lists whose items are of one kind (`number`, `str`)."""

        def make() -> Part:
            return pattern(
                any_of(regex for item, regex in self.view.lists.items() if item_kind(self.view, item) in (name, "any"))
            )

        return self.rules.rule(f"{self.tag}list_{name}", make)

    def number(self) -> Part:
        """Any number."""

        def make() -> Part:
            inner = self.rules.rule(f"{self.tag}inner", self._inner)
            texts = self.text_paths()
            functions = either(
                row("round(", inner, maybe(row(", ", Pattern("[0-6]"))), ")"),
                row(Pattern(r"(?:abs|int)\("), inner, ")"),
                row(EXTREME, inner, ", ", inner, ")"),
                row("float(", either(inner, texts), ")"),
                row("(", either(inner, row(self.nullable_number(), " or 0")), ")"),
                self.each.numbers() if self.each is not None else None,
            )
            operand = self.rules.rule(
                f"{self.tag}factor",
                lambda: either(self.number_paths(), NUMBER, self.counted(), functions, self.given()),
            )
            return row(operand, times(row(_ARITHMETIC, operand), 0, self.more))

        return self.rules.rule(f"{self.tag}number", make)

    def nullable_number(self) -> Part:
        """Numbers that may be None."""
        return pattern(self.view.where(lambda r: r.kind.nullable and r.kind.name in ("int", "number")))

    def _inner(self) -> Part:
        """What stands within `round(…)`: sums over items too."""
        over = self.each.numbers() if self.each is not None else None
        operand = self.rules.rule(f"{self.tag}term", lambda: either(self.number_paths(), NUMBER, self.counted(), over))
        return row(operand, times(row(_ARITHMETIC, operand), 0, self.more))

    # Texts.

    def text_paths(self) -> Part:
        """Variables and places that hold a text."""
        return self.rules.rule(f"{self.tag}texts", lambda: pattern(self.view.kinds("str")))

    def text(self) -> Part:
        """Any text."""

        def make() -> Part:
            made = either(
                row(self.text_paths(), maybe(METHOD)),
                STRING,
                self.template(),
                row("str(", either(self.number_paths(), self.counted()), ")"),
                row(STRING, ".join(", self.lists_of("str"), ")"),
                self.each.joined() if self.each is not None else None,
                self.dumped(),
            )
            operand = self.rules.rule(f"{self.tag}word", lambda: made)
            return row(operand, times(row(" + ", operand), 0, self.more))

        return self.rules.rule(f"{self.tag}text", make)

    def dumped(self) -> Part:
        """`json.dumps(value)`, where the program has imported it."""
        if self.view.point.names.get("json") != Library("json"):
            return None
        shown = either(self.anything(), self.fetched(), self.each.lists() if self.each is not None else None)
        listed = row("[", shown, times(row(", ", shown), 0, self.bounds.operands), "]")
        return row("json.dumps(", either(shown, listed), ")")

    def template(self) -> Part:
        """`f"…{value}…"`."""

        def make() -> Part:
            shown = ("str", "int", "number", "bool", "any")
            anything = self.view.where(lambda r: r.place.plain and r.kind.name in shown)
            numbers = self.view.where(
                lambda r: r.place.plain and r.kind.name in ("int", "number") and not r.kind.nullable
            )
            if anything is None:
                return None
            parts = either(
                pattern(single_quoted(anything)),
                row(pattern(None if numbers is None else single_quoted(numbers)), _SPEC),
            )
            return row(
                'f"', maybe(_CHUNK), times(row("{", parts, "}", maybe(_SHORT_CHUNK)), 1, self.bounds.operands), '"'
            )

        return self.rules.rule(f"{self.tag}template", make)

    # Anything.

    def anything(self) -> Part:
        """Every variable and place."""
        return self.rules.rule(f"{self.tag}anything", lambda: pattern(self.view.where(lambda _: True)))

    def simple(self) -> Part:
        """A value without calls of tools in it."""
        return self.rules.rule(
            f"{self.tag}simple",
            lambda: either(
                self.number(),
                self.text(),
                self.anything(),
                row(self.nullable_number(), " or 0"),
                Pattern("True|False|None"),
            ),
        )


def item_kind(view: View, item: Type) -> str:
    """What the items of a list are good for: `number`, `str` or something else; empty where one may be None."""
    kind = kind_of(item, view.point.calm)
    if kind.nullable:
        return ""
    return "number" if kind.name in ("int", "number") else kind.name
