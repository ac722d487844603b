"""A census: varied valid calls of a service by one who knows its data, and what it answered.

`calls` calls a service, spread evenly over its operations in turn and drawn by seed from the service's own data (ids,
names and dates that are in it, optional arguments given by chance); no call is made twice, so that operations without
arguments are called once. Records that only writes make are drawn from the state that the census has written itself.
Nothing that probing saw or sent comes into it, and probing sees nothing of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from protocols.errors import ToolError
from protocols.invoke import Invoker
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.sources.openapi import read_openapi
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.probing.truth import LinkKey, ToolTruth, Truth
from toolflow_bench.probing.valid.draw import Drawer
from toolflow_bench.probing.values import values_at
from toolflow_bench.services.document import document
from toolflow_bench.services.operation import Operation
from toolflow_bench.services.serve import Served, serve
from toolflow_bench.services.service import Service

CALLS = 300
"""Of one service's census."""

ACCEPTED = 5
"""Values from a link's path that the consumer must accept for the link to be real though nobody declared it."""

_TRIES = 4
_FRESH_CALLS = 12


@dataclass(frozen=True, slots=True)
class Known:
    """A running service, its declared tools, and one who knows its data. It shares nothing with what is probed."""

    operations: Sequence[Operation]
    toolbox: Toolbox
    drawer: Drawer

    def call(self, operation: Operation, arguments: dict[str, Json]) -> tuple[bool, Json]:
        """Whether it was answered with success, and the response."""
        try:
            return True, self.toolbox.find(operation.id).call(arguments)
        except ToolError:
            return False, None


def declared(service: Service, url: str) -> list[ToolProtocol]:
    """The protocols that the service's own document declares, served at `url`."""
    described = document(service.operations, info=service.info, schemas=service.schemas, server=url)
    return read_openapi(described, where=f"the {service.name} service")


@contextmanager
def known(
    service: Service, *, writes: bool, seed: int, folder: Path | None = None, served: Served | None = None
) -> Iterator[Known]:
    """The service as its makers know it: its reading operations, or with `writes` all of them.

    `served` is the running service; None starts one.
    """
    if served is None:
        with (
            serve(service.app(service.database(folder))) as started,
            known(service, writes=writes, seed=seed, folder=folder, served=started) as opened,
        ):
            yield opened
        return
    operations = [operation for operation in service.operations if writes or not operation.writes]
    names = {operation.id for operation in operations}
    with Invoker() as invoker:
        protocols = [protocol for protocol in declared(service, served.url) if protocol.name in names]
        toolbox = Toolbox(Tool(protocol=p, call=invoker.bind(p), source=service.name) for p in protocols)
        database = service.database(folder)
        with Drawer(service.name, database, seed=seed, state=served.app.state.run) as drawer:
            yield Known(operations, toolbox, drawer)


def take_census(knower: Known, *, calls: int = CALLS) -> Truth:
    """What the service answers to so many calls."""
    answers: dict[str, list[Json]] = {operation.id: [] for operation in knower.operations}
    asked = 0
    for operation, arguments in _varied(knower, calls):
        asked += 1
        done, response = knower.call(operation, arguments)
        if done:
            answers[operation.id].append(response)
    return Truth(
        {
            operation.id: ToolTruth(knower.toolbox.find(operation.id).protocol, answers[operation.id])
            for operation in knower.operations
        },
        asked=asked,
    )


def really_flows(knower: Known, link: LinkKey) -> bool:
    """Whether the consumer accepts `ACCEPTED` different values from the link's path, or all where there are fewer.

    The values come from fresh calls of the producer; the consumer's other arguments are drawn to go with each.
    """
    producer, path, consumer, argument = link
    operations = {operation.id: operation for operation in knower.operations}
    if producer not in operations or consumer not in operations:
        return False
    values: dict[str, Json] = {}
    for _ in range(_FRESH_CALLS):
        drawn = knower.drawer.draw(operations[producer]) or _drawn_after_writes(knower, operations[producer])
        if drawn is not None:
            done, response = knower.call(operations[producer], drawn)
            for value in values_at(response, path)[:3] if done else ():
                values.setdefault(json.dumps(value), value)
    chosen = [value for value in values.values() if value is not None][:ACCEPTED]
    return bool(chosen) and all(_accepts(knower, operations[consumer], argument, value) for value in chosen)


def _drawn_after_writes(knower: Known, operation: Operation) -> dict[str, Json] | None:
    """Arguments of an operation on records that nobody has made yet, or that are gone: they are made now."""
    for other in knower.operations:
        if other.method == "POST" and (arguments := knower.drawer.draw(other)) is not None:
            knower.call(other, arguments)
    return knower.drawer.draw(operation)


def _accepts(knower: Known, consumer: Operation, argument: str, value: Json) -> bool:
    # Another argument may be what was refused: it gets a second chance with others.
    for _ in range(_TRIES):
        drawn = knower.drawer.draw(consumer, {argument: value})
        if drawn is not None and knower.call(consumer, drawn)[0]:
            return True
    return False


def _varied(knower: Known, calls: int) -> Iterator[tuple[Operation, dict[str, Json]]]:
    """Different calls, one of each operation in turn, until there are enough or none can be drawn."""
    made: set[str] = set()
    drawn_new = True
    while drawn_new and len(made) < calls:
        drawn_new = False
        for operation in knower.operations:
            arguments = _unmade(operation, knower.drawer.draw, made)
            if arguments is not None and len(made) < calls:
                drawn_new = True
                made.add(_key(operation, arguments))
                yield operation, arguments


def _unmade(
    operation: Operation, draw: Callable[[Operation], dict[str, Json] | None], made: set[str]
) -> dict[str, Json] | None:
    for _ in range(_TRIES):
        arguments = draw(operation)
        if arguments is not None and _key(operation, arguments) not in made:
            return arguments
    return None


def _key(operation: Operation, arguments: dict[str, Json]) -> str:
    return json.dumps([operation.id, arguments], sort_keys=True)
