"""The calls that tell most about where arguments come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from probing.facts import ToolFacts
from probing.fits import Fits
from probing.links.evidence import Source, Taker
from probing.links.flow import Flows, places_for
from probing.pools import Pools
from probing.sample import Origin, Value
from probing.shape import alike, distinctive, text_of
from protocols.jsontypes import Json

_NAMED, _STRANGE, _COUNTER = 0, 2, 1
_ENOUGH = 2
"""Values of one source that are tried on arguments of one name."""
_LOOKED_AT = 60


@dataclass(frozen=True, slots=True)
class LinkTest:
    """A call of `tool`: one of its arguments is under test, the others are those of a call that is done."""

    tool: str
    arguments: Mapping[str, Value]


def link_tests(
    facts: Mapping[str, ToolFacts], pools: Pools, *, tools: Collection[str] | None = None
) -> Iterator[LinkTest]:
    """Calls worth making to confirm or refute links, those that tell most first; none that was made before.

    For an argument whose sources are only guessed, by name or by the look of accepted values: a value from there. For
    one whose source is known: a value that looks the same and comes from elsewhere. An argument's first test goes
    before another's second. `tools` are those whose calls are wanted; None: all.
    """
    flows = Flows(facts, pools)
    planned: list[tuple[int, int, int, LinkTest]] = []
    asked: Counter[tuple[str, int]] = Counter()
    for place, taker in enumerate(flows.takers):
        base = _base(taker)
        if base is None or not (tools is None or taker.tool.name in tools):
            continue
        tests = ((kind, _call(taker, base, value)) for kind, value in _values(flows, taker, base, pools, asked))
        kept = [(kind, test) for kind, test in tests if test is not None]
        planned += [(turn, kind, place, test) for turn, (kind, test) in enumerate(kept)]
    seen: set[str] = set()
    for *_, test in sorted(planned, key=lambda entry: entry[:3]):
        key = repr((test.tool, sorted((n, v.value) for n, v in test.arguments.items())))
        if key not in seen:
            seen.add(key)
            yield test


def _values(
    flows: Flows, taker: Taker, base: Mapping[str, Value], pools: Pools, asked: Counter[tuple[str, int]]
) -> Iterator[tuple[int, Value]]:
    """Values to try on one argument. What arguments of the same name were asked often enough is not asked again."""
    fits = Fits(taker.tool, taker.argument)
    known = [flow.source for flow in flows.of(taker)]
    family = flows.family(taker)
    beside = {text_of(held.value) for name, held in base.items() if name != taker.argument.name}
    for source in known[:1] if not taker.took else ():
        # Known from arguments of the same name alone: see whether this one takes such values too.
        value = _fresh(taker, source, fits, best=_known_best(taker, source, pools), beside=beside)
        if value is not None:
            yield _NAMED, value
    for source in _open(flows, taker, known):
        question = (taker.name.key if taker.named else f"{taker.tool.name} {taker.name.key}", id(source))
        before = sum(any(map(source.gave, sent)) for one in family for sent in one.sent.values()) + asked[question]
        if before >= _ENOUGH:
            continue
        value = _fresh(taker, source, fits, best=_known_best(taker, source, pools) if before else None, beside=beside)
        if value is not None:
            asked[question] += 1
            yield (_NAMED if flows.apart(taker, source) is not None else _STRANGE), value
    if known and taker.took and not flows.contrast(taker, {text for source in known for text in source.texts}):
        value = _counter(flows, taker, known, fits, beside)
        if value is not None:
            yield _COUNTER, value


def _open(flows: Flows, taker: Taker, known: list[Source]) -> list[Source]:
    """The sources that may feed an argument and were not tried: those of its name, then those that look like it."""
    models = [held.value for held in taker.took.values() if distinctive(held.value)]
    named = any(flows.apart(taker, source) is not None for source in known)
    found: list[tuple[float, str, Source]] = []
    for source in flows.sources:
        if source in known or not places_for(taker, source) or (source.secret and not taker.name.secret):
            continue
        apart = flows.apart(taker, source)
        strange = not source.name.searches and any(alike(value, models) for value in source.models)
        if apart is not None and (not taker.took or strange or not models):
            found.append((apart, source.name.key, source))
        elif strange and not (named and taker.name.of_another(source.name)):
            found.append((10.0 - source.name.identifies, source.name.key, source))
    return [source for *_, source in sorted(found, key=lambda entry: entry[:2])]


def _fresh(
    taker: Taker, source: Source, fits: Fits, *, best: Callable[[Value], Any] | None, beside: Collection[str]
) -> Value | None:
    """A value of the source that was not sent yet; the one that `best` puts first.

    A first value that other places know as well would tell little of this source; but where it gave nothing, it may
    have been a thing of which there is nothing to say. None of those `beside` it in the call: who travels from one
    place to the same?
    """
    held = [value for place in places_for(taker, source) for value in islice(place.values.values(), _LOOKED_AT)]
    if best is not None:
        held.sort(key=best)
    new = (value for value in held if (text := text_of(value.value)) not in taker.sent and text not in beside)
    fresh = map(fits.adapted, new)
    return next((value for value in fresh if value is not None), None)


def _known_best(taker: Taker, source: Source, pools: Pools) -> Callable[[Value], tuple[bool, int]]:
    """Orders values: those that the tool's own responses hold first, then those that most places know."""
    own = [place for place in source.places if place.tool == taker.tool.name]

    def order(value: Value) -> tuple[bool, int]:
        text = text_of(value.value)
        return not any(text in place.values for place in own), -pools.popularity(value.value)

    return order


def _counter(flows: Flows, taker: Taker, known: list[Source], fits: Fits, beside: Collection[str]) -> Value | None:
    """A value that looks like those accepted and is in none of their sources: another thing's, else an altered one."""
    belongs = {text for source in known for text in source.texts} | taker.sent.keys() | set(beside)
    models = [held.value for held in taker.took.values()]
    for source in flows.sources:
        if source in known or source.secret:
            continue
        for held in (value for place in source.places for value in islice(place.values.values(), 3)):
            if text_of(held.value) not in belongs and alike(held.value, models):
                value = fits.adapted(held)
                if value is not None:
                    return value
    for model in models:
        value = fits.adapted(Value(_altered(model), Origin(kind="generated")))
        if value is not None and text_of(value.value) not in belongs:
            return value
    return None


def _altered(value: Json) -> Json:
    """A value of the same look that is most likely nobody's: its last letters and digits are others."""
    if isinstance(value, int | float):
        return value + 86_413
    text = list(str(value))
    for place in range(len(text) - 1, max(-1, len(text) - 4), -1):
        here = text[place]
        text[place] = "9" if here.isdigit() else "Q" if here.isupper() else "q" if here.isalpha() else here
    return "".join(text)


def _base(taker: Taker) -> dict[str, Value] | None:
    """The arguments of the call that is done with fewest; `None` where none is, and one argument is not enough."""
    name = taker.argument.name
    done = sorted(
        taker.tool.fruitful or taker.tool.done,
        key=lambda sample: (name not in sample.arguments, len(sample.arguments), sample.number),
    )
    if done:
        return dict(done[0].arguments)
    needed = {other for other, argument in taker.tool.arguments.items() if argument.required}
    return None if needed - {name} else {}


def _call(taker: Taker, base: dict[str, Value], value: Value) -> LinkTest | None:
    """The call of `base` with one argument replaced, if it was not made before."""
    arguments = {**base, taker.argument.name: value}
    plain = sorted((name, held.value) for name, held in arguments.items())
    if any(repr(sorted(sample.plain.items())) == repr(plain) for sample in taker.tool.samples):
        return None
    return LinkTest(taker.tool.name, arguments)
