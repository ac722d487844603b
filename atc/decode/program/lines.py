"""The statements of one block: assignments, calls, loops, tests, and what ends them."""

from __future__ import annotations

from atc.check.types import Listing, Mapped, Tuple, Type, members
from atc.decode.bounds import Bounds
from atc.decode.grammar import Node, Pattern
from atc.decode.program.beginning import Level
from atc.decode.program.calls import Calls
from atc.decode.program.comparisons import Tests
from atc.decode.program.nodes import Part, any_of, either, maybe, pattern, row, times
from atc.decode.program.terms import CUT, STRING, Terms
from atc.decode.program.values import Values

_LOOPS = ("for", "while")
_COMMENT = Pattern(r"# [^`\x00-\x1f\x7f\u{85}\u{2028}\u{2029}]{1,100}")


class Lines:
    """What may stand next in the `number`th of the open blocks, with its indentation and its newline."""

    def __init__(
        self, levels: tuple[Level, ...], number: int, terms: Terms, calls: Calls, name: Node, bounds: Bounds
    ) -> None:
        self.levels, self.number, self.level = levels, number, levels[number]
        self.terms, self.name, self.bounds = terms, name, bounds
        self.tests = Tests(terms)
        self.view, self.rules, self.tag = terms.view, terms.rules, terms.tag
        self.values = Values(terms, calls, bounds, innermost=number == len(levels) - 1)

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
            row(self.name, either(row(" = ", self.values.value()), self.pairs())),
            self.values.called(),
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

    # Statements.

    def prints(self) -> Part:
        """`print(value)`."""
        value = self.values.value()
        return row("print(", value, times(row(", ", value), 0, 2), ")")

    def pairs(self) -> Part:
        """`, most = None, 0` behind a name."""
        return row(", ", self.name, " = ", self.values.plain(), ", ", self.values.plain())

    def changes(self) -> Part:
        """What changes a variable in place: `+=`, `append`, a key that is set."""
        view = self.view
        added = either(self.terms.simple(), self.values.fetched(), self.values.each.one(), self.values.display())
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
            row(pattern(lists), ".extend(", either(every, self.values.each.lists(), self.values.fetched_list()), ")"),
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

    def loop(self) -> Part:
        """`for x in xs`."""
        lists = either(pattern(any_of(self.view.lists.values())), row(pattern(self.view.sliceable), CUT))
        ordered = either(lists, self.values.each.lists(), self.values.fetched_list())
        end = self.rules.rule(f"{self.tag}end", self._end)
        maps = self.view.variables(lambda value, _: all(isinstance(m, Mapped) for m in members(value)))
        pairs = any_of(
            regex for item, regex in self.view.lists.items() if isinstance(item, Tuple) and len(item.items) == 2
        )
        word = self.rules.rule(f"{self.tag}item", lambda: either(Pattern("0|[1-9][0-9]{0,5}"), STRING))
        words = self.rules.rule(f"{self.tag}items", lambda: row(word, times(row(", ", word), 0, self.bounds.items)))
        written = either(row("[", words, "]"), row("(", word, ", ", words, ")"))
        return row(
            "for ",
            self.name,
            either(
                row(
                    " in ",
                    either(ordered, written, row("range(", maybe(row(end, ", ")), end, ")"), pattern(maps)),
                ),
                row(
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

    def _end(self) -> Part:
        """Where a range ends: `n + 1`."""
        whole = self.view.where(lambda r: r.kind.name == "int" and not r.kind.nullable)
        end = either(pattern(whole), Pattern("[1-9][0-9]{0,3}"), self.terms.counted())
        return row(end, maybe(Pattern(r" (?:\+|-) 1")))

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


def _made(value: Type, kind: str) -> bool:
    return all(isinstance(member, Listing) and member.kind == kind for member in members(value))
