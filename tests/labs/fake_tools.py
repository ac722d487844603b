"""Fake tools for tests of probing: functions that answer or raise `ToolError`, and a record of what was called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from probing.caller import Caller
from probing.probe import Probed, probe
from probing.samples import Log, ProbeSettings
from protocols.errors import ToolError
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox

Answer = Callable[..., Json]


def refuse(status: int, detail: str) -> ToolError:
    """What a service that speaks in sentences answers."""
    return ToolError(status, detail, answer=f'{{"detail": "{detail}"}}')


def need(arguments: Mapping[str, Any], name: str, kind: str = "a string") -> Any:
    """An argument's value; a refusal that names it where it is missing."""
    if name not in arguments:
        raise refuse(422, f"argument '{name}' is missing; it must be {kind}.")
    return arguments[name]


class Fakes:
    """A toolbox of fake tools: `add` them, take `toolbox`, and look at `calls`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, JsonObject]] = []
        self._tools: list[Tool] = []

    def add(
        self,
        name: str,
        answer: Answer,
        path: str = "",
        *arguments: str,
        method: str = "GET",
        strict: bool = True,
        **schemas: Any,
    ) -> None:
        """A tool at `path` (`/users/{id}`); arguments that the path does not name travel in the query or the body.

        `strict`: others are refused before `answer` is asked.
        """
        url = f"http://service.test{path or '/' + name}"
        named = [part[1:-1] for part in url.split("/")[3:] if part.startswith("{")]
        properties = {argument: schemas.get(argument, {}) for argument in (*named, *arguments)}
        protocol = ToolProtocol(
            name=name,
            input_schema={"type": "object", "properties": properties},
            annotations=Annotations(read_only=method == "GET"),
            binding=HttpBinding(method=method, url=url),
        )
        self.take(protocol, answer, list(properties) if strict else None)

    def take(self, protocol: ToolProtocol, answer: Answer, known: list[str] | None = None) -> None:
        """A tool of this protocol. Arguments other than `known`, where it is given, are refused."""

        def call(arguments: JsonObject) -> Json:
            self.calls.append((protocol.name, dict(arguments)))
            for given in arguments:
                if known is not None and given not in known:
                    raise refuse(422, f"unknown argument '{given}'.")
            return answer(arguments)

        self._tools.append(Tool(protocol=protocol, call=call))

    @property
    def toolbox(self) -> Toolbox:
        """All tools that were added."""
        return Toolbox(self._tools)


def run_probe(fakes: Fakes, folder: Path, **settings: Any) -> Probed:
    """Probe these tools as fast as they answer."""
    chosen = ProbeSettings(requests_per_second=None, **settings)
    with Log(folder) as log:
        caller = Caller(fakes.toolbox, log, chosen, sleep=lambda _: None)
        return probe(fakes.toolbox, log, settings=chosen, caller=caller)
