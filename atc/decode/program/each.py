"""What a program does with the items of a list: comprehensions, `next`, `max(…, key=…)`, `sorted`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from atc.check.kinds import NEVER, Origin, Record, Type
from atc.check.lattice import members
from atc.decode.grammar import Pattern
from atc.decode.program.arguments import Argument
from atc.decode.program.calls import Callable, Calls
from atc.decode.program.nodes import Part, any_of, either, maybe, pattern, row
from atc.decode.program.places import Kind, Place, key_step, quoted_value, reach
from atc.decode.program.terms import (
    AGGREGATE,
    BOTH,
    CHANGED,
    EQUAL,
    EXTREME,
    NONE_TEST,
    STRING,
    WITHIN,
    Terms,
)
from protocols.links import singular, snake

MOST_PAIRS = 10
"""Names for the items of lists at the innermost point, all lists together."""
MOST_OUTER = 4
"""The same further out, where a block would be closed."""
MOST_CALLED = 24
"""Tools of a toolbox whose lists are gone through where they are called."""
_CUT = Pattern(r"\[(?::[1-9][0-9]?|0|-1|[1-9])\]")
_MOST_GUARDS = 3


@dataclass(frozen=True, slots=True)
class Item:
    """A name for the items of some lists, what can be read in one, and what derives the lists."""

    name: str
    kind: Type
    found: tuple[tuple[Place, Kind], ...]
    lists: Part
    tag: str
    light: bool
    """Whether no variable holds such a list yet: then less is offered of it."""


class Each:
    """Expressions over the items of lists that can be written at one point."""

    def __init__(self, terms: Terms, calls: Calls, *, innermost: bool) -> None:
        self.room = MOST_PAIRS if innermost else MOST_OUTER
        self.terms, self.calls = terms, calls
        self.view, self.rules, self.tag = terms.view, terms.rules, terms.tag
        self._calls: dict[str, list[tuple[Callable, str]]] = {}
        self.items = list(self._items())
        self.own = [item for item in self.items if not item.light]

    def _items(self) -> Iterator[Item]:
        """The lists in scope, then those that a call gives; under several names each, as far as there is room."""
        own = {item: pattern(regex) for item, regex in self.view.lists.items() if item is not NEVER}
        called: dict[Type, list[Part]] = {}
        for known in self.calls.tools if len(self.calls.tools) <= MOST_CALLED else ():
            by_item: dict[Type, list[str]] = {}
            for place, kind in self.view.reader.read(known.result, frozenset()):
                if kind.name == "list" and not kind.nullable and place.steps <= 2:
                    by_item.setdefault(kind.item, []).append(place.suffix)
            for item, found in by_item.items():
                reached = any_of(suffix for suffix in found if suffix)
                after = maybe(pattern(reached)) if "" in found else pattern(reached)
                called.setdefault(item, []).append(row(self.calls.call(known), after))
        room = self.room
        every = [*own, *(item for item in called if item not in own)]
        for number, item in enumerate(every):
            share = min(2, max(1, room // (len(every) - number)))
            for name in self._names(item)[:share]:
                if room:
                    room -= 1
                    lists = either(own.get(item), *called.get(item, ()))
                    inside = tuple(self.view.reader.read(item, self.view.point.calm))
                    yield Item(name, item, inside, lists, f"{self.tag}i{number}_{name}_", item not in own)

    def _names(self, item: Type) -> list[str]:
        origin = next((m.origin for m in members(item) if isinstance(m, Record)), None)
        noun = _noun(origin) if origin is not None else "item"
        names = [noun, noun[:1], "x", "item"]
        taken = {*self.view.names, *self.calls.aliases, "id", "max", "min", "sum", "str", "int", "list", "set", "type"}
        return [name for name in dict.fromkeys(names) if name.isidentifier() and name not in taken]

    def source(self, item: Item) -> Part:
        """What derives the lists of such items; by a rule, for it is often needed."""
        return self.rules.rule(f"{item.tag}lists", lambda: item.lists)

    # Within an item.

    def read(self, item: Item, *names: str) -> str | None:
        """What is of one of these kinds in an item and is never None, the results of calls with it included."""
        own = self.below(item, *names)
        inside = [f"{item.name}{own}"] if own is not None else []
        return any_of([*inside, *self._fetched(item, names)])

    def below(self, item: Item, *names: str, nullable: bool = False, itself: bool = True) -> str | None:
        """The subscripts in an item to what is of one of these kinds."""
        return self.view.reader.below(item.kind, self.view.point.calm, *names, nullable=nullable, itself=itself)

    def _fetched(self, item: Item, names: tuple[str, ...]) -> Iterator[str]:
        """Calls of tools with what an item holds."""
        for known, given in () if item.light else self._callable(item):
            after = self.view.reader.below(known.result, frozenset(), *names, nullable=not names)
            if after is not None:
                yield f"{known.tool.alias}\\({given}\\){after}"

    def _callable(self, item: Item) -> list[tuple[Callable, str]]:
        """The tools of which an item holds a required argument, with how they are called."""
        if item.tag not in self._calls:
            found = ((known, self._given(item, known)) for known in self.calls.tools)
            self._calls[item.tag] = [(known, given) for known, given in found if given is not None]
        return self._calls[item.tag]

    def _given(self, item: Item, known: Callable) -> str | None:
        """The required arguments of a call, of which one at least is in the item."""
        needed = [argument for argument in known.arguments if argument.required]
        own = [self._held(item, argument) for argument in needed]
        if not any(own):
            return None
        texts: list[str] = []
        for argument, held in zip(needed, own, strict=True):
            value = f"{item.name}{held}" if held is not None else self.calls.at_hand(argument)
            if value is None:
                return None
            texts.append(f"{argument.alias}={value}")
        return ", ".join(texts)

    def _held(self, item: Item, argument: Argument) -> str | None:
        """Where an item holds the value of an argument: by its links, else under the argument's own name."""
        linked = reach(place for place, _ in item.found if place.origin in argument.wanted.origins)
        if linked is not None:
            return linked
        named = key_step(argument.alias)
        return reach(
            place
            for place, kind in item.found
            if place.suffix in ("", named) and kind.name != "list" and self.calls.takes(argument, place, kind)
        )

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
                *(row(path, " is not None", " and ", path, self.terms.ordered()) for path in paths),
            )

        return self.rules.rule(f"{item.tag}condition", make)

    def _unit(self, item: Item) -> Part:
        def own(*names: str) -> Part:
            found = self.below(item, *names)
            return None if found is None else Pattern(f"{item.name}{found}")

        free = reach(p for p, k in item.found if k.name in ("str", "any") and k.free)
        limited = [
            row(Pattern(f"{item.name}{p.suffix}"), EQUAL, self._one_of(p, k))
            for p, k in item.found
            if k.name == "str" and not k.free and p.origin not in self.calls.linked
        ]
        first = (
            row(own("int", "number"), self.terms.ordered()),
            row(None if free is None else Pattern(f"{item.name}{free}"), self.terms.equalled()),
        )
        if item.light:
            return either(*first, *limited[:1])
        texts = own("str")
        return either(
            *first,
            row(texts, either(row(CHANGED, self.terms.equalled()), row(EQUAL, self.terms.text_paths()))),
            *limited[:_MOST_GUARDS],
            row(STRING, WITHIN, texts, maybe(CHANGED)),
            row(texts, WITHIN, self.terms.lists_of("str")),
            row(maybe("not "), own("bool")),
        )

    def _one_of(self, place: Place, kind: Kind) -> Part:
        """The literals that a text of which a schema says more can be."""
        if kind.values is not None:
            return pattern(any_of(map(quoted_value, kind.values)))
        return self.terms.conforming(place.kind)

    # Over all items.

    def generated(self, item: Item, *names: str) -> Part:
        """`x["k"] for x in xs if …`."""

        def make() -> Part:
            element = self.read(item, *names) if names else self.whole(item)
            after = maybe(row(" if ", self.condition(item)))
            plain = row(pattern(element), f" for {item.name} in ", self.source(item), after)
            guarded = [
                row(
                    path := Pattern(f"{item.name}{place.suffix}"),
                    f" for {item.name} in ",
                    self.source(item),
                    " if ",
                    path,
                    " is not None",
                )
                for place, kind in item.found
                if kind.nullable and kind.name in names
            ]
            return either(plain, *guarded[:_MOST_GUARDS])

        return self.rules.rule(f"{item.tag}each_{'_'.join(names)}", make)

    def whole(self, item: Item) -> str | None:
        """Anything of an item, None or not."""
        own = self.below(item, nullable=True)
        return any_of([f"{item.name}{own}", *self._fetched(item, ())])

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
                *(row("sum(", f"1 for {i.name} in ", self.source(i), " if ", self.condition(i), ")") for i in self.own),
                *(
                    row("len(", f"[{i.name} for {i.name} in ", self.source(i), " if ", self.condition(i), "])")
                    for i in self.own
                ),
            )

        return self.rules.rule(f"{self.tag}each_counted", make)

    def _ordered_by(self, item: Item) -> str | None:
        """What items can be compared by."""
        found = reach(p for p, kind in item.found if kind.name in ("int", "number", "str") and not kind.nullable)
        return None if found is None else f"{item.name}{found}"

    def joined(self) -> Part:
        """`", ".join(…)`."""
        return row(STRING, ".join(", self.over("str"), ")")

    def decided(self) -> Part:
        """`any(… for x in xs)`."""
        return either(
            *(
                row(Pattern(r"(?:any|all)\("), self.condition(i), f" for {i.name} in ", self.source(i), ")")
                for i in self.own
            )
        )

    def lists(self) -> Part:
        """Lists and sets made of all items."""

        def make() -> Part:
            parts: list[Part] = []
            for item in self.items:
                key = self._ordered_by(item)
                ordered = row(
                    "sorted(",
                    self.source(item),
                    row(f", key=lambda {item.name}: ", pattern(key)),
                    maybe(", reverse=True"),
                    ")",
                )
                parts.append(row("[", self.generated(item), "]"))
                if not item.light:
                    named = either(self.generated(item, "str"), row(pattern(key), ": ", self.generated(item)))
                    parts += [row(ordered, maybe(_CUT)), row("{", named, "}")]
            plain = either(self.terms.lists_of("str"), self.terms.lists_of("number"))
            parts.append(row("sorted(", either(plain, row("set(", plain, ")")), maybe(", reverse=True"), ")"))
            return either(*parts)

        return self.rules.rule(f"{self.tag}each_lists", make)

    def one(self) -> Part:
        """One item, or what it holds: `next(…)`, `max(xs, key=lambda x: x["k"])`."""

        def make() -> Part:
            parts: list[Part] = []
            for item in self.items:
                inner = self.below(item, nullable=True, itself=False)
                key = self._ordered_by(item)
                after = maybe(pattern(inner))
                condition = row(" if ", self.condition(item))
                rest = self.rules.rule(
                    f"{item.tag}rest",
                    lambda: row(f" for {item.name} in ", self.source(item), condition),  # noqa: B023
                )
                whole = row(pattern(self.whole(item)), rest)
                parts.append(row("next(", either(row("(", whole, "), None)"), row(whole, ")"))))
                parts.append(row("next(", item.name, rest, ")", after))
                parts.append(row(EXTREME, self.source(item), f", key=lambda {item.name}: ", pattern(key), ")", after))
            return either(*parts)

        return self.rules.rule(f"{self.tag}each_one", make)


def _noun(origin: Origin) -> str:
    """What an item of a response may be called: `player` for those of `players`, or of `list_players`."""
    key = next((step for step in reversed(origin.path) if step is not None), None) or origin.tool
    return singular(snake(key).split("_")[-1]) or "item"
