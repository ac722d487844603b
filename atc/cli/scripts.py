"""What a script of `atc runs export --python` calls: its tools, under the user's own configuration."""

from __future__ import annotations

import atexit
import json
import sys
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from atc.cli.settings import load_config
from atc.cli.wiring import invoke_settings
from protocols.errors import ToolError
from protocols.invoke import Invoker
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import PythonBinding, load
from protocols.sources import load_tools
from protocols.toolbox import Tool, idempotency_key
from sandbox.contract import BadArguments, contract

ALLOW = "--allow-writes"


def script_tools(protocols: Sequence[JsonObject], *, modules: Sequence[str] = ()) -> list[Callable[..., Json]]:
    """The tools of a script as functions, in this order. `modules` are the sources of its Python modules.

    Requests are made as in a run: with the configured credentials, to one origin, within the same limits. The script
    ends here where one of the tools writes, unless it was started with `--allow-writes` or the configuration allows
    that tool.
    """
    config = load_config()
    given = [load(document, where="the script") for document in protocols]
    asked = [one.name for one in given if one.writes and not {"all", one.name} & {*config.allow_writes}]
    if asked and ALLOW not in sys.argv[1:]:
        sys.exit(f"{', '.join(asked)} may change something; to allow that, run the script with {ALLOW}.")
    invoker = Invoker(invoke_settings(config))
    atexit.register(invoker.close)
    loaded = load_tools(*modules, invoker=invoker)
    return [
        _function(
            loaded.find(one.name)
            if isinstance(one.binding, PythonBinding)
            else Tool(protocol=one, call=invoker.bind(one))
        )
        for one in given
    ]


def _function(tool: Tool) -> Callable[..., Json]:
    terms = contract(tool.protocol)

    def call(**arguments: Any) -> Json:
        try:
            accepted = terms.accept(json.loads(json.dumps(arguments, allow_nan=False)))
        except (BadArguments, TypeError, ValueError) as problem:
            raise ToolError(None, f"tool {tool.alias!r}: {problem}", outcome="not_run") from None
        token = idempotency_key.set(uuid.uuid4().hex) if tool.protocol.writes else None
        try:
            return tool.unwrap(tool.call(tool.original(accepted)))
        finally:
            if token is not None:
                idempotency_key.reset(token)

    return call
