"""What a program does with the items of a list: comprehensions, `next`, `max(…, key=…)`, `sorted`."""

from __future__ import annotations

from collections.abc import Iterable

from atc.decode.grammar import Pattern
from atc.decode.program.calls import Calls
from atc.decode.program.comparisons import BOTH, CHANGED, EQUAL, NONE_TEST, WITHIN, Tests
from atc.decode.program.items import Item, Items
from atc.decode.program.nodes import Part, any_of, either, maybe, pattern, row
from atc.decode.program.places import Kind, Place, only_values, quoted_value, reach
from atc.decode.program.terms import AGGREGATE, EXTREME, STRING, Terms

_CUT = Pattern(r"\[(?::[1-9][0-9]?|0|-1|[1-9])\]")
_MOST_GUARDS = 3


class Each:
    """Expressions over the items of lists that can be written at one point."""

    def __init__(self, terms: Terms, calls: Calls, *, innermost: bool) -> None:
        self.terms, self.calls, self.tests = terms, calls, Tests(terms)
        self.view, self.rules, self.tag = terms.view, terms.rules, terms.tag
        self.within = Items(calls, innermost=innermost)
        self.items = self.within.every
        self.own = [item for item in self.items if not item.light]

    def condition(self, item: Item) -> Part:
        """What may stand after ` if `."""

        def make() -> Part:
            if item.light:
                return self._unit(item)
            unit = self.rules.rule(f"{item.tag}unit", lambda: self._unit(item))
            unclear = reach(p for p, kind in item.found if kind.nullable)
            numbers = [p for p, kind in item.found if kind.nullable and kind.name in ("int", "number")]
            paths = [Pattern(f"{item.name}{p.suffix}") for p in numbers[:_MOST_GUARDS]]
            return either(
                row(unit, maybe(row(BOTH, unit))),
                row(None if unclear is None else Pattern(f"{item.name}{unclear}"), NONE_TEST),
                *(row(path, " is not None", " and ", path, self.tests.ordered()) for path in paths),
            )

        return self.rules.rule(f"{item.tag}condition", make)

    def _unit(self, item: Item) -> Part:
        def own(*names: str) -> Part:
            found = self.within.below(item, *names)
            return None if found is None else Pattern(f"{item.name}{found}")

        free = reach(p for p, k in item.found if k.name in ("str", "any") and k.free and not k.fixed)
        limited = [
            row(Pattern(f"{item.name}{p.suffix}"), EQUAL, self._one_of(p, k))
            for p, k in item.found
            if k.name == "str" and (k.fixed or not k.free) and p.origin not in self.calls.linked
        ]
        first = (
            row(own("int", "number"), self.tests.ordered()),
            row(None if free is None else Pattern(f"{item.name}{free}"), self.tests.equalled()),
        )
        if item.light:
            return either(*first, *limited[:1])
        texts = own("str")
        return either(
            *first,
            row(texts, CHANGED, self.tests.equalled()),
            *self._alike(item),
            *limited[:_MOST_GUARDS],
            row(STRING, WITHIN, texts, maybe(CHANGED)),
            row(maybe("not "), own("bool")),
        )

    def _alike(self, item: Item) -> list[Part]:
        """What an item holds, against the texts that it may be equal to."""
        found = ((p.kind, p) for p, k in item.found if k.name in ("str", "any") and not k.nullable)
        return [
            row(
                Pattern(f"{item.name}{reach(match.things)}"),
                either(row(EQUAL, pattern(match.texts)), row(WITHIN, pattern(match.lists))),
            )
            for match in self.terms.alike.matches(found)
        ]

    def _one_of(self, place: Place, kind: Kind) -> Part:
        """The literals that a text of which a schema says more can be."""
        if kind.values is not None:
            return pattern(any_of(map(quoted_value, kind.values)))
        if kind.fixed:
            return pattern(any_of(map(quoted_value, only_values(place.kind))))
        return self.tests.conforming(place.kind)

    # Over all items.

    def _those(self, item: Item) -> Part:
        """` for x in xs if …`."""
        return self.rules.rule(
            f"{item.tag}those", lambda: row(f" for {item.name} in ", item.lists, " if ", self.condition(item))
        )

    def generated(self, item: Item, *names: str) -> Part:
        """`x["k"] for x in xs if …`."""

        def make() -> Part:
            element = self.within.read(item, *names) if names else self.within.whole(item)
            after = maybe(row(" if ", self.condition(item)))
            plain = row(pattern(element), f" for {item.name} in ", item.lists, after)
            guarded = [
                row(
                    path := Pattern(f"{item.name}{place.suffix}"),
                    f" for {item.name} in ",
                    item.lists,
                    " if ",
                    path,
                    " is not None",
                )
                for place, kind in item.found
                if kind.nullable and kind.name in names
            ]
            return either(plain, *guarded[:_MOST_GUARDS])

        return self.rules.rule(f"{item.tag}each_{'_'.join(names)}", make)

    def over(self, *names: str) -> Part:
        """A generator whose items are of one of these kinds."""
        return self.rules.rule(
            f"{self.tag}each_{'_'.join(names)}",
            lambda: either(*(self.generated(i, *names) for i in self.items if not i.light or "number" in names)),
        )

    def numbers(self) -> Part:
        """Numbers computed from all items."""

        def make() -> Part:
            return either(
                row(AGGREGATE, self.over("int", "number"), ")"),
                row(Pattern(r"(?:sum|max)\("), either(*map(self._or_zero, self.own)), ")"),
                row("sum(", "1", either(*map(self._those, self.own)), ")"),
                row("len(", either(*(row(f"[{i.name}", self._those(i)) for i in self.own)), "])"),
            )

        return self.rules.rule(f"{self.tag}each_counted", make)

    def _or_zero(self, item: Item) -> Part:
        """`get_flight(id=x["id"])["minutes"] or 0 for x in xs`, where the minutes may be None."""
        after = maybe(row(" if ", self.condition(item)))
        return row(pattern(self.within.perhaps(item)), f" or 0 for {item.name} in ", item.lists, after)

    def joined(self) -> Part:
        """`", ".join(…)`."""
        return row(STRING, ".join(", self.over("str"), ")")

    def decided(self) -> Part:
        """`any(… for x in xs)`."""
        tests = (row(self.condition(i), f" for {i.name} in ", i.lists) for i in self.own)
        return row(Pattern(r"(?:any|all)\("), either(*tests), ")")

    def lists(self) -> Part:
        """Lists and sets made of all items."""

        def make() -> Part:
            braced: list[Part] = []
            for item in self.own:
                keyed = row(pattern(self.within.ordered_by(item)), ": ", self.generated(item))
                braced += [self.generated(item, "str"), keyed]
            plain = either(self.terms.lists_of("str"), self.terms.lists_of("number"))
            ordered = row("sorted(", self._by_key(self.own), maybe(", reverse=True"), ")")
            return either(
                row("[", either(*map(self.generated, self.items)), "]"),
                row(ordered, maybe(_CUT)),
                row("{", either(*braced), "}"),
                row("sorted(", either(plain, row("set(", plain, ")")), maybe(", reverse=True"), ")"),
            )

        return self.rules.rule(f"{self.tag}each_lists", make)

    def _by_key(self, items: Iterable[Item]) -> Part:
        """`xs, key=lambda x: x["k"]`."""
        by_lists: dict[Part, list[Part]] = {}
        for item in items:
            key = row(f", key=lambda {item.name}: ", pattern(self.within.ordered_by(item)))
            by_lists.setdefault(item.lists, []).append(key)
        return either(*(row(lists, either(*keys)) for lists, keys in by_lists.items()))

    def one(self) -> Part:
        """One item, or what it holds: `next(…)`, `max(xs, key=lambda x: x["k"])`."""

        def make() -> Part:
            whole = self.rules.rule(
                f"{self.tag}each_whole",
                lambda: either(*(row(pattern(self.within.whole(i)), self._those(i)) for i in self.items)),
            )
            held: list[Part] = []
            ranked: list[Part] = []
            for after, items in self._by_inside().items():
                held.append(row(either(*(row(i.name, self._those(i)) for i in items)), ")", pattern(after)))
                ranked.append(row(self._by_key(items), ")", maybe(pattern(after))))
            return either(
                row("next(", either(row("(", whole, "), None)"), row(whole, ")"), *held)),
                row(EXTREME, either(*ranked)),
            )

        return self.rules.rule(f"{self.tag}each_one", make)

    def _by_inside(self) -> dict[str | None, list[Item]]:
        """The items, by the subscripts that lead into them."""
        found: dict[str | None, list[Item]] = {}
        for item in self.items:
            inner = self.within.below(item, nullable=True, itself=False)
            found.setdefault(inner, []).append(item)
        return found
