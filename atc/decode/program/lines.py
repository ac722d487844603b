"""The statements of one block: assignments, calls, loops, tests, and what ends them."""

from __future__ import annotations

from atc.check.kinds import NUMBERS, Atom, Listing, Mapped, Tuple, Type
from atc.check.lattice import join, members
from atc.check.scope import Level
from atc.decode.bounds import Bounds
from atc.decode.grammar import Node, Pattern
from atc.decode.program.calls import Calls
from atc.decode.program.comparisons import Tests
from atc.decode.program.each import Each
from atc.decode.program.nodes import Part, any_of, either, maybe, pattern, row, times
from atc.decode.program.terms import CUT, EXTREME, STRING, Terms

_LOOPS = ("for", "while")
_PICK = Pattern(r"\[(?:0|-1|[1-9]|:[1-9])\]")
_COMMENT = Pattern(r"# [^`\x00-\x1f\x7f\u{85}\u{2028}\u{2029}]{1,100}")


class Lines:
    """What may stand next in the `number`th of the open blocks, with its indentation and its newline."""

    def __init__(
        self, levels: tuple[Level, ...], number: int, terms: Terms, calls: Calls, name: Node, bounds: Bounds
    ) -> None:
        self.levels, self.number, self.level = levels, number, levels[number]
        self.terms, self.calls, self.name, self.bounds = terms, calls, name, bounds
        self.tests = Tests(terms)
        self.view, self.rules, self.tag = terms.view, terms.rules, terms.tag
        self.each = terms.each = Each(terms, calls, innermost=number == len(levels) - 1)
        terms.fetched = self.fetched
        terms.given, terms.ids = self.fetched_number, calls.linked

    # Which line.

    def statement(self, *, printed: bool, closing: bool) -> Part:
        """One statement here. `closing`: the program is long enough, so only what ends it may follow."""
        if not self.level.inside.reached:
            return None
        if closing:
            return row(self.level.indent, self.closing(printed), "\n")
        return row(self.level.indent, either(self.simple(), self.header(), self.leaves()), "\n")

    def comment(self) -> Part:
        """A line for a reader. It is a step of its own: nothing follows a newline, so masks stay small."""
        return row(self.level.indent, _COMMENT, "\n") if self.level.inside.reached else None

    def closing(self, printed: bool) -> Part | str:
        """What must come here before the program can end; nothing where nothing must."""
        if self.number and endless(self.levels, self.number):
            return "break"
        if self.level.lines:
            return self.prints() if not printed and not self.number else None
        return "pass" if printed else self.prints()

    def handler(self, margin: str) -> Part:
        """`except ToolError:` after the block of a `try`."""
        return row(margin, "except ToolError", maybe(row(" as ", self.name)), ":\n")

    def simple(self) -> Part:
        """A statement of one line."""
        return either(
            row(self.name, " = ", self.value()),
            self.pairs(),
            self.called(),
            self.prints(),
            self.changes(),
            None if "json" in self.view.point.names or self.number else "import json",
        )

    def header(self) -> Part:
        """The header of a block."""
        if len(self.levels) > self.bounds.blocks:
            return None
        return row(
            either(self.loop(), row("if ", self.tests.test()), row("while ", either(self.tests.test(), "True")), "try"),
            ":",
        )

    # Values.

    def value(self) -> Part:
        """What a variable may be given."""

        def make() -> Part:
            return either(
                self.terms.simple(),
                self.fetched(),
                self.each.lists(),
                self.each.one(),
                self.display(),
                self.ranked(),
                row(inner := self.terms.simple(), " if ", self.tests.test(), " else ", inner),
                row(pattern(any_of(self.view.lists.values())), CUT),
                Pattern(r"\[\]|\{\}|set\(\)"),
            )

        return self.rules.rule(f"{self.tag}value", make)

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
            pair = row(STRING, ": ", inner)
            return either(
                row("[", inner, times(row(", ", inner), 0, more), "]"),
                row("(", inner, times(row(", ", inner), 1, more), ")"),
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

    # Statements.

    def prints(self) -> Part:
        """`print(value)`."""
        value = self.value()
        return row("print(", value, times(row(", ", value), 0, 2), ")")

    def pairs(self) -> Part:
        """`best, most = None, 0`."""
        inner = either(self.terms.simple(), Pattern(r"\[\]|\{\}|set\(\)"))
        return row(self.name, ", ", self.name, " = ", inner, ", ", inner)

    def changes(self) -> Part:
        """What changes a variable in place: `+=`, `append`, a key that is set."""
        view = self.view
        added = either(self.terms.simple(), self.fetched(), self.each.one(), self.display())
        numbers = view.variables(lambda _, kind: kind.name in ("int", "number"))
        texts = view.variables(lambda _, kind: kind.name == "str")
        lists = view.variables(lambda value, _: _made(value, "list"))
        sets = view.variables(lambda value, _: _made(value, "set"))
        maps = view.variables(lambda value, _: all(isinstance(m, Mapped) for m in members(value)))
        plain = either(self.terms.text_paths(), self.terms.number_paths())
        key = either(plain, STRING)
        every = pattern(any_of(view.lists.values()))
        return either(
            row(
                pattern(numbers),
                Pattern(r" (?:\+|-|\*)= "),
                either(self.terms.number(), row(self.terms.nullable_number(), " or 0")),
            ),
            row(pattern(texts), " += ", self.terms.text()),
            row(pattern(lists), ".append(", added, ")"),
            row(pattern(lists), ".extend(", either(every, self.each.lists(), self.fetched_list()), ")"),
            row(pattern(sets), ".add(", plain, ")"),
            row(pattern(maps), "[", key, "] = ", added),
            *self._counting(),
        )

    def _counting(self) -> list[Part]:
        """`counts[key] = counts.get(key, 0) + 1`."""
        found: list[Part] = []
        for name, value in self.view.names.items():
            if all(isinstance(member, Mapped) for member in members(value)) and len(found) < 3:
                key = self.view.where(lambda r: r.kind.name in ("str", "int") and not r.kind.nullable)
                key_part = pattern(key)
                found.append(
                    row(name, "[", key_part, "] = ", f"{name}.get(", key_part, ", 0) + ", self.terms.plain_number())
                )
        return found

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

    def loop(self) -> Part:
        """`for x in xs`."""
        lists = row(pattern(any_of(self.view.lists.values())), maybe(CUT))
        ordered = either(lists, self.each.lists(), self.fetched_list())
        whole = self.view.where(lambda r: r.kind.name == "int" and not r.kind.nullable)
        end = either(pattern(whole), Pattern("[1-9][0-9]{0,3}"), self.terms.counted())
        end = row(end, maybe(Pattern(r" (?:\+|-) 1")))
        maps = self.view.variables(lambda value, _: all(isinstance(m, Mapped) for m in members(value)))
        pairs = any_of(
            regex for item, regex in self.view.lists.items() if isinstance(item, Tuple) and len(item.items) == 2
        )
        word = either(Pattern("0|[1-9][0-9]{0,5}"), STRING)
        words = row(word, times(row(", ", word), 0, self.bounds.items))
        written = either(row("[", words, "]"), row("(", word, ", ", words, ")"))
        return row(
            "for ",
            either(
                row(
                    self.name,
                    " in ",
                    either(ordered, written, row("range(", maybe(row(end, ", ")), end, ")"), pattern(maps)),
                ),
                row(
                    self.name,
                    ", ",
                    self.name,
                    " in ",
                    either(
                        row("enumerate(", ordered, maybe(", 1"), ")"),
                        row(pattern(maps), ".items()"),
                        pattern(pairs),
                    ),
                ),
            ),
        )

    def leaves(self) -> Part:
        """`break`, `continue`, `pass`, where they make sense."""
        loops = [number for number, level in enumerate(self.levels[: self.number + 1]) if level.keyword in _LOOPS]
        here = self.level.keyword
        found: list[str] = []
        if loops and here not in _LOOPS:
            found += ["break", "continue"]
        within = [level.keyword for level in self.levels[: self.number + 1]]
        if here == "except":
            found.append("pass")
        if "except" in within:
            found.append("raise")
        return either(*found)


def endless(levels: tuple[Level, ...], number: int) -> bool:
    """Whether a block runs for ever as it stands: nothing can come after it."""
    return levels[number].keyword == "while" and not levels[number - 1].inside.reached


def _numbered(value: Type) -> bool:
    """Whether it is a dict of the program's that holds numbers alone."""
    held = [join(*m.cell.keys.values(), m.cell.value) for m in members(value) if isinstance(m, Mapped)]
    kinds = [kind for some in held for kind in members(some)]
    return (
        len(held) == len(members(value))
        and bool(kinds)
        and all(isinstance(k, Atom) and k.name in NUMBERS for k in kinds)
    )


def _made(value: Type, kind: str) -> bool:
    return all(isinstance(member, Listing) and member.kind == kind for member in members(value))
