"""What a script of `atc runs export --python` calls: its program over its tools, under the user's own configuration."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

from atc.cli.settings import load_config
from atc.cli.wiring import invoke_settings
from atc.recording import RecordedTools
from atc.types import Attempt, Program
from protocols.invoke import Invoker
from protocols.protocol import load
from protocols.schema import JsonObject
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Pins

ALLOW = "--allow-writes"


def run_script(program: str, tools: Mapping[str, JsonObject]) -> None:
    """Run the program of a script in the sandbox over its tools, by alias, and print its answer.

    Requests are made as in a run: with the configured credentials, to one origin, within the same limits. The process
    ends here where one of the tools writes, unless it was started with `--allow-writes` or the configuration allows
    that tool, and where the program fails.
    """
    config = load_config()
    known = RecordedTools({alias: load(document, where="the script") for alias, document in tools.items()})
    writing = {name: tool for name, tool in known.items() if tool.protocol.writes}
    asked = [name for name, tool in writing.items() if not {"all", *tool.names} & {*config.allow_writes}]
    if asked and ALLOW not in sys.argv[1:]:
        sys.exit(f"{', '.join(asked)} may change something; to allow that, run the script with {ALLOW}.")
    sandbox = open_sandbox(config.sandbox, policy=config.policy)
    with closing(sandbox), closing(Invoker(invoke_settings(config))) as invoker:
        tools_at_work = known.map(lambda tool: replace(tool, call=invoker.bind(tool.protocol)))
        journal, limits = Journal(pins=Pins(clock=time.time())), Limits(tool_calls=config.max_calls)
        trace = sandbox.run(program, tools_at_work, limits=limits, journal=journal)
    if trace.failure is not None:
        sys.exit(f"line {trace.failure.line}: {trace.failure.type}: {trace.failure.message}")
    print(Attempt(Program(program), (), trace, None).answer)
