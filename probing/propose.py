"""Candidate values of an argument, best first (paper, §4.1): from its description, from other tools, from replies,
from a model, made up.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from probing.dialects.formats import is_template
from probing.facts import ArgumentFacts, ToolFacts
from probing.fits import Fits
from probing.generate import sure, typed
from probing.generate.names import named
from probing.naming import called
from probing.pools import Pools
from probing.sample import Origin, OriginKind, Value
from probing.shape import alike, distinctive
from protocols.jsontypes import Json
from protocols.schema import type_name

# Where the first value of each source stands, and how far the next ones are behind it: so different sources are tried
# early, and different values of one source later.
_GIVEN, _RESPONSE, _ERROR, _ABOVE, _MODEL, _SURE, _MADE_UP = 0.0, 1.0, 1.4, 1.8, 2.6, 3.4, 4.6
_NEAR_STEP, _STEP = 0.4, 0.6
_TRIED_IN_VAIN = 3.0

_SAMPLE = re.compile(
    r"\b(?:e\.?g\.?,?|such as|for example|examples?(?: is| are)?|like|i\.?e\.?)[:,]?\s+", re.IGNORECASE
)
_QUOTED = re.compile(
    r"\s*+(?:(?:,|or|and)\s*+)?"
    r"(?:'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`|([\w.:+-]*\d[\w.:+-]*)|([A-Z][A-Z0-9_]+)\b)"
)
_MARKED = re.compile(r"(?<!\w)(?:'([\w.:+-]{1,40})'|\"([\w.:+-]{1,40})\"|`([\w.:+-]{1,40})`)(?!\w)")

Ranked = tuple[float, Value]


def candidates(
    tool: ToolFacts,
    argument: ArgumentFacts,
    *,
    pools: Pools | None,
    suggested: Sequence[Json] = (),
    seed: int = 0,
) -> Iterator[Value]:
    """Values for an argument, best first, each with its origin; none twice.

    None is excluded by the declared schema or by what a reply told, none was refused or led nowhere before. The sources
    stand in the paper's order, one behind the other but interleaved: the first few values come from different places.
    `pools` holds the values of other tools (`None`: the tool is probed alone), `suggested` are a model's.
    """
    fits = Fits(tool, argument)
    failed = _failed(tool, argument, fits)
    sources = [
        _spaced(_given(tool, argument), _GIVEN, _NEAR_STEP),
        _spaced(_enumerated(argument), _GIVEN + _NEAR_STEP, _STEP),
        _spaced(_told(argument), _ERROR, _STEP),
        _spaced(_values(_alternatives(tool, argument), "given"), _ABOVE, _NEAR_STEP),
        _spaced((Value(value, Origin(kind="model")) for value in suggested), _MODEL, _STEP),
        _spaced(_made_up(tool, argument, seed), _SURE if sure(argument) or _tells(argument) else _MADE_UP, _STEP),
    ]
    if pools is not None:
        sources.append((_RESPONSE + far, value) for far, value in pools.ranked(tool.protocol, argument))
        sources.append(_spaced(pools.above(tool.protocol, argument), _ABOVE, _STEP))
    seen: set[str] = set()
    for value in _in_order(sources, fits, failed):
        key = fits.key(value.value)
        if key not in seen:
            seen.add(key)
            yield value


def _in_order(sources: Sequence[Iterable[Ranked]], fits: Fits, failed: set[str]) -> Iterator[Value]:
    """All values in the order of their rank; those that were part of vain calls alone come later."""
    put_off: list[tuple[float, int, Value]] = []
    merged = heapq.merge(*sources, key=lambda ranked: ranked[0])
    for number, (rank, raw) in enumerate(merged):
        while put_off and put_off[0][0] <= rank:
            yield heapq.heappop(put_off)[2]
        value = fits.adapted(raw)
        if value is None:
            continue
        if fits.key(value.value) in failed:
            heapq.heappush(put_off, (rank + _TRIED_IN_VAIN, number, value))
        else:
            yield value
    while put_off:
        yield heapq.heappop(put_off)[2]


def _spaced(values: Iterable[Value], start: float, step: float) -> Iterator[Ranked]:
    return ((start + step * number, value) for number, value in enumerate(values))


def _given(tool: ToolFacts, argument: ArgumentFacts) -> Iterator[Value]:
    """What the description of the tool gives as examples or defaults."""
    declared = argument.declared
    examples = declared.get("examples")
    yield from _values(examples if isinstance(examples, list) else [], "given")
    yield from _values([declared[key] for key in ("example", "const", "default") if key in declared], "given")
    yield from _values(
        [example.arguments[argument.name] for example in tool.protocol.examples if argument.name in example.arguments],
        "given",
    )
    yield from _values(quoted(str(declared.get("description", ""))), "given")


def _made_up(tool: ToolFacts, argument: ArgumentFacts, seed: int) -> Iterator[Value]:
    """What generators give; of an argument that took values of others, those of their types, and none that is no id."""
    made = chain(_spoken_of(argument), typed(argument, seed=seed, root=tool.protocol.input_schema))
    kinds = {_kind(held.value) for held in argument.accepted if held.origin.kind not in ("generated", "model")}
    if not kinds:
        return made
    ids = [held.value for held in argument.accepted if held.origin.kind == "response" and distinctive(held.value)]
    return (value for value in made if _kind(value.value) in kinds and (not ids or alike(value.value, ids)))


def _tells(argument: ArgumentFacts) -> bool:
    return any(True for _ in _spoken_of(argument))


def _spoken_of(argument: ArgumentFacts) -> Iterator[Value]:
    """Guesses by what replies call the argument's values, where its own name says nothing."""
    if not named(argument.name):
        yield from _values((guess for noun in called(argument) for guess in named(noun)), "generated")


def _kind(value: Json) -> str:
    return "number" if type_name(value) == "integer" else type_name(value)


def _enumerated(argument: ArgumentFacts) -> Iterator[Value]:
    listed = argument.declared.get("enum")
    return _values(listed if isinstance(listed, list) else [], "enum")


def _told(argument: ArgumentFacts) -> Iterator[Value]:
    """What replies quoted: examples first, then defaults, then what they list."""
    for kind in ("example", "default", "enum"):
        for hint in argument.hints:
            if hint.kind == kind:
                yield from _values(hint.values, "error")


def quoted(text: str) -> list[str]:
    """The values that a description gives as examples: `such as 'BOS' or 'JFK'`, `e.g. 2013-01-31`."""
    found: list[str] = []
    for start in _SAMPLE.finditer(text[:4_000]):
        here = start.end()
        while (match := _QUOTED.match(text, here)) is not None and len(found) < 8:
            found.append(next(group for group in match.groups() if group is not None).rstrip(".:,"))
            here = match.end()
    return found


def _alternatives(tool: ToolFacts, argument: ArgumentFacts) -> list[str]:
    """The values that a description tells apart in quotation marks: `local ('local') or remote branches ('remote')`."""
    text = str(argument.declared.get("description", ""))[:4_000]
    marked = (next(group for group in match.groups() if group) for match in _MARKED.finditer(text))
    found = dict.fromkeys(word for word in marked if word not in tool.arguments and not is_template(word))
    return list(found)[:8] if len(found) > 1 else []


def _failed(tool: ToolFacts, argument: ArgumentFacts, fits: Fits) -> set[str]:
    """Values of vain calls alone, which failed or gave nothing: nobody may know which of them are to blame."""
    full = {sample.number for sample in tool.fruitful}
    given = [(sample.number in full, sample.arguments.get(argument.name)) for sample in tool.samples]
    good = {fits.key(held.value) for fruitful, held in given if fruitful and held is not None}
    return {fits.key(held.value) for fruitful, held in given if not fruitful and held is not None} - good


def _values(values: Iterable[Json], kind: OriginKind) -> Iterator[Value]:
    return (Value(value, Origin(kind=kind)) for value in values)
