"""Tests: what may stand after `if`, comparisons of like with like."""

from __future__ import annotations

from functools import lru_cache

from atc.check.types import Atom, Null, Type, members
from atc.decode.arguments import value_grammar
from atc.decode.errors import Undecodable
from atc.decode.grammar import Grammar, Pattern
from atc.decode.program.given import of_ids
from atc.decode.program.nodes import Part, Rules, any_of, either, maybe, pattern, row, times
from atc.decode.program.places import only_values, quoted_value
from atc.decode.program.terms import METHOD, STRING, Terms
from atc.decode.program.view import Read

ORDER = Pattern(r" (?:<|<=|>|>=|==|!=) ")
EQUAL = Pattern(r" (?:==|!=) ")
BOTH = Pattern(" (?:and|or) ")
WITHIN = Pattern(" (?:not )?in ")
NONE_TEST = Pattern(" is (?:not )?None")
CHANGED = Pattern(r"\.(?:lower|upper|strip)\(\)")
_MOST_GUARDS = 6
_TRUTHS = ("bool", "list", "str", "dict", "map", "any")
"""What may be asked whether it is there at all."""


class Tests:
    """The tests that can be written at one point; every method gives a part of a grammar, None for nothing."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.view, self.rules, self.tag = terms, terms.view, terms.rules, terms.tag

    def test(self) -> Part:
        """What may stand after `if`."""
        return self.rules.rule(f"{self.tag}test", lambda: either(self.compared(), self.none_test()))

    def compared(self) -> Part:
        """The same without `x is None` alone, after which one of the two branches knows that it is."""

        def make() -> Part:
            unit = self.unit()
            return either(
                row(unit, times(row(BOTH, unit), 0, self.terms.more)),
                row(self.guarded(), times(row(" and ", unit), 0, 1)),
            )

        return self.rules.rule(f"{self.tag}compared", make)

    def ordered(self) -> Part:
        """` > 3`: what a number is compared with."""
        return self.rules.rule(f"{self.tag}ordered", lambda: row(ORDER, self.terms.plain_number()))

    def equalled(self) -> Part:
        """` == "x"`: what a text is compared with."""
        return self.rules.rule(
            f"{self.tag}equalled", lambda: row(EQUAL, either(STRING, row(self.terms.text_paths(), maybe(METHOD))))
        )

    def unit(self) -> Part:
        """One comparison, or a value that is true or not."""

        def make() -> Part:
            view = self.view
            free = pattern(view.where(lambda r: r.kind.name in ("str", "any") and r.kind.free and not r.kind.fixed))
            truth = pattern(view.where(lambda r: r.kind.name in _TRUTHS or r.kind.nullable))
            texts, paths = self.terms.text_paths(), self.terms.number_paths()
            return either(
                row(either(paths, self.terms.counted(), self.terms.given()), self.ordered()),
                row(free, self.equalled()),
                row(self.terms.nullable_number(), EQUAL, self.terms.plain_number()),
                row(texts, CHANGED, self.equalled()),
                *self.listed_values(),
                *self._limited(),
                *self._alike(),
                row(either(STRING, row(texts, METHOD)), WITHIN, texts),
                row(texts, METHOD, WITHIN, self.terms.lists_of("str")),
                self.sought(STRING),
                row(maybe("not "), truth),
                row(maybe("not "), self.terms.each.decided() if self.terms.each is not None else None),
            )

        return self.rules.rule(f"{self.tag}unit", make)

    def _alike(self) -> list[Part]:
        """Texts against others that they may be equal to, or contain."""
        texts = [r for r in self.view.reads if r.kind.name in ("str", "any") and not r.kind.nullable]
        return [
            row(
                pattern(self.view.all_of(match.things)),
                either(
                    row(EQUAL, pattern(match.texts)),
                    row(WITHIN, either(self.terms.text_paths(), pattern(match.lists))),
                ),
            )
            for match in self.terms.alike.matches((r.place.kind, r) for r in texts)
        ]

    def sought(self, written: Part) -> Part:
        """A literal, among texts that it may be one of."""
        anywhere = any_of(lists for _, lists in self.terms.alike.lists(formed=False))
        formed = [
            row(self.conforming(item), WITHIN, pattern(lists)) for item, lists in self.terms.alike.lists(formed=True)
        ]
        return either(row(written, WITHIN, pattern(anywhere)), *formed[:_MOST_GUARDS])

    def _limited(self) -> list[Part]:
        """Texts of which a schema gives a pattern, against a literal that matches it."""
        found = [
            r
            for r in self.view.reads
            if r.kind.name == "str"
            and not r.kind.free
            and r.kind.values is None
            and r.place.origin not in self.terms.ids
        ]
        rows = [row(Pattern(f"{r.name}{r.place.suffix}"), EQUAL, self.conforming(r.place.kind)) for r in found]
        kept: list[Part] = [part for part in rows if part is not None]
        return kept[:_MOST_GUARDS]

    def conforming(self, value: Type) -> Part:
        """String literals that match the pattern which a schema gives for `value`; of ids only those of the task."""
        patterns = {member.pattern for member in members(value) if isinstance(member, Atom)}
        if len(patterns) != 1 or (regex := patterns.pop()) is None:
            return None
        if self.terms.task.known and of_ids(regex):
            return self.terms.task.literal("", {"type": "string", "pattern": regex}, {})
        return self.rules.rule(f"like_{regex}", lambda: _literals(regex, self.rules))

    def listed_values(self) -> list[Part]:
        """Texts of which a schema lists the values, against one of them."""
        known: dict[tuple[str, ...], list[str]] = {}
        for read in self.view.reads:
            if read.kind.name == "str" and (read.kind.values is not None or read.kind.fixed):
                path = f"{read.name}{read.place.suffix}"
                known.setdefault(read.kind.values or only_values(read.place.kind), []).append(path)
        return [
            row(pattern(any_of(paths)), EQUAL, pattern(any_of(map(quoted_value, values))))
            for values, paths in known.items()
        ]

    def nullable(self) -> Part:
        """What may be None."""
        return pattern(self.view.where(lambda r: r.kind.nullable or r.kind.name == "any" or may_be_none(r)))

    def none_test(self) -> Part:
        """`x is None`, alone or before what is only looked at if it is not."""
        better = [name for name, value in self.view.names.items() if may_be_none_number(value)]
        compared = (row(name, " is None or ", self.terms.number_paths(), ORDER, name) for name in better[:4])
        return either(row(self.nullable(), NONE_TEST), *compared)

    def guarded(self) -> Part:
        """`x["k"] is not None and x["k"] > 3`: what may be None, compared where it is not."""
        found = [r for r in self.view.reads if r.kind.nullable and r.kind.name in ("int", "number")]
        return either(
            *(
                row(path := Pattern(f"{r.name}{r.place.suffix}"), " is not None", " and ", path, self.ordered())
                for r in found[:_MOST_GUARDS]
            )
        )


@lru_cache(maxsize=512)
def _matching(regex: str) -> Grammar | None:
    try:
        return value_grammar(
            {"type": "string", "pattern": regex}, style="python", prefix=f"like_{regex}_", characters=60
        )
    except Undecodable:
        return None


def _literals(regex: str, rules: Rules) -> Part:
    grammar = _matching(regex)
    if grammar is None:
        return None
    rules.made.update(grammar.rules)
    return grammar.start


def may_be_none(read: Read) -> bool:
    """Whether it may be None though a use of it does not count as wrong."""
    return any(isinstance(member, Null) for member in members(read.place.kind))


def may_be_none_number(value: Type) -> bool:
    """Whether a variable of the program holds None or a number."""
    kinds = members(value)
    return any(isinstance(k, Null) for k in kinds) and all(
        isinstance(k, Null) or (isinstance(k, Atom) and k.name in ("int", "float", "number")) for k in kinds
    )
