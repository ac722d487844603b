"""A service of the bench: its operations, its data and its state, ready to be served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from protocols.errors import AtcError, SourceUnavailable
from protocols.jsontypes import JsonObject
from toolflow_bench.services.context import Context
from toolflow_bench.services.database import Connections
from toolflow_bench.services.operation import Operation
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.serve import INSTALL
from toolflow_bench.services.state import Initial, State

if TYPE_CHECKING:
    from starlette.applications import Starlette

NAMES = ("flights", "baseball", "movies", "places")
"""The services of ToolFlow; each is a package of this name beside this file, with a `SERVICE` in it."""


class UnknownService(AtcError):
    """No service of this name; the message names those that exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A domain's operations over its data.

    `database` gives the domain's SQLite file and builds it where it is not there yet; it takes the folder (None: the
    cache folder) and `announce`, which gets a sentence before a build, and raises `SourceUnavailable`. `initial` puts
    records into the state that are there before a task begins.
    """

    name: str
    info: JsonObject
    operations: tuple[Operation, ...]
    schemas: Mapping[str, JsonObject]
    database: Callable[..., Path]
    initial: Initial | None = None

    def app(self, database: Path | None = None, *, bare: bool = False) -> Starlette:
        """The application, with a state of its own: `toolflow_bench.services.serve.serve` runs it.

        A `bare` one answers for its operations alone, with 404 where its document would be.

        `app.state.run` is its `State`, `app.state.requests` the latest requests. Without `database` the data is found
        or built in the cache folder, which takes some seconds the first time.

        Raises:
            SourceUnavailable: a package or the data is missing, or the cache folder cannot be written.
        """
        connections = Connections(database or self.database())
        context = Context(connections, State(self.initial))
        try:
            return build_app(
                self.operations,
                context=context,
                info=self.info,
                schemas=self.schemas,
                close=connections.close,
                bare=bare,
            )
        except ImportError as error:
            raise SourceUnavailable(
                f"the {self.name} service needs {error.name!r}, which is not installed; {INSTALL}"
            ) from error


def find_service(name: str) -> Service:
    """The service of this name.

    Raises:
        UnknownService: there is none.
    """
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(NAMES)}."
        raise UnknownService(f"no service named {name!r}; {hint}")
    service = import_module(f"toolflow_bench.services.{name}").SERVICE
    assert isinstance(service, Service)
    return service
