"""A service of the benchmark: its operations, data and state, ready to be served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from protocols.errors import AtcError, SourceUnavailable
from protocols.naming import closest_spellings
from protocols.schema import JsonObject
from toolflow_bench.services.answers import Context, RecordLookup
from toolflow_bench.services.database import Functions, connect
from toolflow_bench.services.openapi import load_description
from toolflow_bench.services.operation import Operation
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.serve import INSTALL
from toolflow_bench.services.state import ServiceState

if TYPE_CHECKING:
    from starlette.applications import Starlette

NAMES = ("flights", "baseball", "movies", "places")
"""The names of ToolFlow's services.

Each names a package in this folder, which defines `SERVICE`.
"""


class UnknownService(AtcError):
    """No service has this name. The message lists those that exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The operations and the data of a service.

    `database` is a function that returns the path of the service's SQLite file, and builds the file
    if it is missing. It takes the folder (None: the cache folder) and `announce`, which is called
    with a sentence before a build, and may raise `SourceUnavailable`. `functions` are called by the
    SQL in `openapi.yaml`. `records` say how to find the records that requests identify by id.
    """

    name: str
    info: JsonObject
    operations: tuple[Operation, ...]
    schemas: Mapping[str, JsonObject]
    database: Callable[..., Path]
    records: Mapping[str, RecordLookup] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        handlers: ModuleType,
        *,
        database: Callable[..., Path],
        functions: Functions | None = None,
    ) -> Service:
        """Return the service that the `openapi.yaml` beside the module `handlers` describes."""
        said = load_description(Path(str(handlers.__file__)).with_name("openapi.yaml"), handlers)
        return cls(name=name, database=database, functions=functions or {}, **said)

    def app(self, database: Path | None = None) -> Starlette:
        """Return an application with its own state, to be run with `toolflow_bench.services.serve`.

        `app.state.run` is its `ServiceState`, `app.state.requests` the latest requests. If
        `database` is None, the data is found in the cache folder, or built there, which takes some
        seconds the first time.

        Raises:
            SourceUnavailable: a package or the data is missing, or the cache folder cannot be
                written.
        """
        context = Context(
            connect(database or self.database(), self.functions), ServiceState(), self.records
        )
        try:
            return build_app(
                self.operations,
                context=context,
                info=self.info,
                schemas=self.schemas,
                close=context.connection.close,
            )
        except ImportError as error:
            raise SourceUnavailable(
                f"the {self.name} service needs {error.name!r}, which is not installed; {INSTALL}"
            ) from error


def find_service(name: str) -> Service:
    """Return ToolFlow's service with this name, such as `flights`.

    Raises:
        UnknownService: no service has this name.
    """
    if name not in NAMES:
        near = closest_spellings(name, NAMES)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(NAMES)}."
        raise UnknownService(f"no service named {name!r}; {hint}")
    service = import_module(f"toolflow_bench.services.{name}").SERVICE
    assert isinstance(service, Service)
    return service
