"""Which calls are decoded: of which tools, in which format, by which sampler. The same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, cycle, islice
from pathlib import Path
from random import Random

from atc.decode.formats import FORMATS, CallFormat
from protocols.errors import AtcError
from protocols.jsontypes import JsonObject
from protocols.schema import violations
from protocols.toolbox import Toolbox
from toolflow_bench.decoding.random.samplers import SAMPLERS
from toolflow_bench.decoding.random.schemas import Drawn
from toolflow_bench.decoding.random.sources import (
    Catalogue,
    bfcl_catalogues,
    random_catalogues,
    tool_catalogues,
)
from toolflow_bench.decoding.random.values import conforming

CALLS_OF_A_SCHEMA = 5
"""Calls decoded of each pair of random tools, in each format one."""
_SEARCHED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A tool that no call can be decoded of, and what the decoder said.

    `satisfiable` says that arguments are known which conform: those drawn with the schema, or one of many made up. Then
    it was refused for being beyond the decoder, not for being contradictory.
    """

    source: str
    tool: str
    form: str
    clause: str
    problem: str
    kinds: tuple[str, ...]
    satisfiable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call to decode. `tool` is empty where the sampler chooses among the catalogue's, else it is the only one."""

    number: int
    catalogue: Catalogue
    form: CallFormat
    sampler: str
    tool: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the schemas have, of random tools."""
        return tuple(sorted({kind for one in self.catalogue.drawn.values() for kind in one.kinds}))


class Plan:
    """The calls of a run, and `rejected`: the tools that turned out undecodable on the way."""

    def __init__(self, *, calls: int, seed: int, data: Path) -> None:
        self.calls, self.seed = calls, seed
        self.rejected: list[Rejected] = []
        self._real = [*bfcl_catalogues(data), *tool_catalogues(data)]

    def __iter__(self) -> Iterator[Asked]:
        """Half of the calls are of random tools, then BFCL's and those of services, catalogue by catalogue."""
        names, rng = list(SAMPLERS), Random(f"samplers {self.seed}")  # noqa: S311 - a sample, not secrecy
        half = self.calls - self.calls // 2
        # One after another: a catalogue's grammars are still remembered when its calls are decoded.
        every = chain(self._of_random(half), self._of_real(self.calls // 2))
        for number, (catalogue, form, tool) in enumerate(every):
            yield Asked(number=number, catalogue=catalogue, form=form, sampler=rng.choice(names), tool=tool)

    def _of_random(self, count: int) -> Iterator[tuple[Catalogue, CallFormat, str]]:
        def endless() -> Iterator[tuple[Catalogue, CallFormat, str]]:
            for catalogue in random_catalogues(self.seed):
                for form in FORMATS.values():
                    if (some := self._decodable(catalogue, form)).tools:
                        yield some, form, ""

        return islice(endless(), count)

    def _of_real(self, count: int) -> Iterator[tuple[Catalogue, CallFormat, str]]:
        """Each catalogue in each format: as a whole, and tool by tool, so that every function has its turn."""
        decodable = cache(lambda place, form: self._decodable(self._real[place], FORMATS[form]))

        def turns(place: int, form: str) -> Iterator[tuple[Catalogue, CallFormat, str]]:
            catalogue = decodable(place, form)
            for tool in cycle(catalogue.tools):
                yield catalogue, FORMATS[form], ""
                yield catalogue, FORMATS[form], tool

        some = [turns(place, form) for place in range(len(self._real)) for form in FORMATS]
        some = [one for one in some if next(one, None)]
        return islice((next(one) for one in cycle(some)), count)

    def _decodable(self, catalogue: Catalogue, form: CallFormat) -> Catalogue:
        """The catalogue without the tools that are refused in `form`."""
        good = []
        for alias in catalogue.tools:
            refused = refusal(catalogue.tools.only([alias]), form)
            if refused is None:
                good.append(alias)
            else:
                self.rejected.append(_rejected(catalogue, alias, form, refused))
        return replace(catalogue, tools=catalogue.tools.only(good))


def refusal(tools: Toolbox, form: CallFormat) -> AtcError | None:
    """Why the only tool of `tools` cannot be decoded; None where it can."""
    from atc.decode.arguments import arguments_grammar
    from atc.decode.errors import Undecodable

    [tool] = tools.values()
    try:
        arguments_grammar(tool, form.arguments)
    except Undecodable as error:
        return error
    return None


def unheld(tools: Toolbox, form: CallFormat) -> Sequence[str]:
    """Clauses of the tools' schemas that no grammar holds."""
    from atc.decode.arguments import arguments_grammar

    return [clause for tool in tools.values() for clause in arguments_grammar(tool, form.arguments).unheld]


def _rejected(catalogue: Catalogue, alias: str, form: CallFormat, error: AtcError) -> Rejected:
    drawn = catalogue.drawn.get(alias)
    return Rejected(
        source=catalogue.source,
        tool=f"{catalogue.name}/{alias}" if drawn is None else f"seed {drawn.seed}",
        form=form.arguments,
        clause=str(getattr(error, "clause", "")),
        problem=str(getattr(error, "problem", error)),
        kinds=() if drawn is None else drawn.kinds,
        satisfiable=_satisfiable(catalogue.tools[alias].protocol.input_schema, drawn),
    )


def _satisfiable(schema: JsonObject, drawn: Drawn | None) -> bool:
    if drawn is not None and drawn.example is not None:
        return True
    rng = Random(0)  # noqa: S311 - a search, not secrecy
    try:
        return any(not violations(schema, conforming(schema, rng)) for _ in range(_SEARCHED))
    except Exception:  # noqa: BLE001 - it may be no schema at all, and is then refused with reason
        return False
