"""The values that can be written at one point: expressions, what calls of tools give, what is written out."""

from __future__ import annotations

from atc.check.types import NUMBERS, Atom, Mapped, Type, join, members
from atc.decode.bounds import Bounds
from atc.decode.grammar import Pattern
from atc.decode.program.calls import Calls
from atc.decode.program.comparisons import Tests
from atc.decode.program.each import Each
from atc.decode.program.nodes import Part, either, maybe, pattern, row, times
from atc.decode.program.terms import CUT, EXTREME, NUMBER, STRING, Terms

_PICK = Pattern(r"\[(?:0|-1|[1-9]|:[1-9])\]")

_WRITTEN = either(STRING, NUMBER, Pattern(r"None|True|False|\[\]"))


class Values:
    """Values at one point, `innermost` where no block would be closed; every method gives a part of a grammar."""

    def __init__(self, terms: Terms, calls: Calls, bounds: Bounds, *, innermost: bool) -> None:
        self.terms, self.calls, self.bounds, self.tests = terms, calls, bounds, Tests(terms)
        self.view, self.rules, self.tag = terms.view, terms.rules, terms.tag
        self.each = terms.each = Each(terms, calls, innermost=innermost)
        terms.fetched = self.fetched
        terms.given, terms.ids = self.fetched_number, calls.linked

    def value(self) -> Part:
        """What a variable may be given."""

        def make() -> Part:
            return either(
                self.plain(),
                self.fetched(),
                self.each.lists(),
                self.each.one(),
                self.display(),
                self.ranked(),
                self.chosen(),
                row(pattern(self.view.sliceable), CUT),
            )

        return self.rules.rule(f"{self.tag}value", make)

    def chosen(self) -> Part:
        """`x if test else y`; where it is None that is tested, the other side is written out."""
        inner, unclear = self.terms.simple(), self.tests.nullable()
        return either(
            row(inner, " if ", self.tests.compared(), " else ", inner),
            row(inner, " if ", unclear, " is not None else ", _WRITTEN),
            row(_WRITTEN, " if ", unclear, " is None else ", inner),
        )

    def plain(self) -> Part:
        """A value without calls of tools in it, or what is still empty."""
        return self.rules.rule(
            f"{self.tag}plain_value", lambda: either(self.terms.simple(), Pattern(r"\[\]|\{\}|set\(\)"))
        )

    def ranked(self) -> Part:
        """`max(counts, key=counts.get)`: keys of a dict by what stands under them."""
        names = [name for name, value in self.view.names.items() if _numbered(value)][:4]
        ordered = [
            row("sorted(", name, ", key=", name, ".get", maybe(", reverse=True"), ")", maybe(_PICK)) for name in names
        ]
        return either(*(row(EXTREME, name, ", key=", name, ".get)") for name in names), *ordered)

    def display(self) -> Part:
        """A list, tuple or dict written out."""

        def make() -> Part:
            inner = self.terms.simple()
            more = self.bounds.operands
            pair = self.rules.rule(f"{self.tag}pair", lambda: row(STRING, ": ", inner))
            further = self.rules.rule(f"{self.tag}further", lambda: times(row(", ", inner), 1, more))
            return either(
                row("[", inner, maybe(further), "]"),
                row("(", inner, further, ")"),
                row("{", pair, times(row(", ", pair), 0, more), "}"),
            )

        return self.rules.rule(f"{self.tag}display", make)

    def called(self) -> Part:
        """A call of a tool."""
        return self.rules.rule(f"{self.tag}called", lambda: either(*(self.calls.call(k) for k in self.calls.tools)))

    def fetched(self) -> Part:
        """A call of a tool, and perhaps subscripts of what it gives."""

        def make() -> Part:
            by_suffix: dict[str | None, list[Part]] = {}
            for known in self.calls.tools:
                inner = self.view.reader.below(known.result, frozenset(), nullable=True, itself=False)
                by_suffix.setdefault(inner, []).append(self.calls.call(known))
            return either(*(row(either(*calls), maybe(pattern(inner))) for inner, calls in by_suffix.items()))

        return self.rules.rule(f"{self.tag}fetched", make)

    def fetched_number(self) -> Part:
        """A number that a call gives."""
        return self._fetched("int", "number")

    def fetched_list(self) -> Part:
        """A list that a call gives."""
        return self._fetched("list")

    def _fetched(self, *names: str) -> Part:
        def make() -> Part:
            found: list[Part] = []
            for known in self.calls.tools:
                after = pattern(self.view.reader.below(known.result, frozenset(), *names))
                found.append(row(self.calls.call(known), after))
            return either(*found)

        return self.rules.rule(f"{self.tag}fetched_{names[0]}", make)


def _numbered(value: Type) -> bool:
    """Whether it is a dict of the program's that holds numbers alone."""
    held = [join(*m.cell.keys.values(), m.cell.value) for m in members(value) if isinstance(m, Mapped)]
    kinds = [kind for some in held for kind in members(some)]
    return (
        len(held) == len(members(value))
        and bool(kinds)
        and all(isinstance(k, Atom) and k.name in NUMBERS for k in kinds)
    )
