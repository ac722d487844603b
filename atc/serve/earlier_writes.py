"""Finding writes of earlier runs that a client may repeat, as it does not know their outcome."""

from __future__ import annotations

from atc.store import RunStore
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.arguments import contract
from sandbox.journal import Journal, canonical_call
from sandbox.trace import ToolCall


def find_write_in_doubt(
    store: RunStore, toolbox: Toolbox, tool: Tool, arguments: JsonObject
) -> tuple[str, ToolCall] | None:
    """Find an equal write of an earlier run that a client may repeat by mistake.

    A client may do so if it does not know how the first write ended. There are two such cases. The
    tool gave no response, so it is unknown whether the write took effect. Or the run gave the
    client no reply, because the run was interrupted or waits for the answer to a question.

    `tool` and `arguments` are those of the new write, keyed by their names in the API. Return the
    id of the earlier run and its call, or None if there is no such write.
    """
    defaults = tool.original_arguments(contract(tool.protocol).defaults)
    wanted = canonical_call(tool.alias, {**defaults, **arguments})

    def is_same(recorded: JsonObject) -> bool:
        original = {**defaults, **tool.original_arguments(recorded)}
        return canonical_call(tool.alias, original) == wanted

    for run, calls in store.find_unconfirmed_writes(tool.alias).items():
        if not any(map(is_same, calls)):
            continue
        stored = store.load(run)
        is_other_tool = stored.summary.identities.get(tool.alias) != tool.identity
        if is_other_tool or stored.summary.status == "running":
            continue
        journal = Journal()
        journal.restore(stored.calls, toolbox)
        uninformed = stored.summary.status == "interrupted" or store.questions.has_open_question(
            run
        )
        for call in journal.writes() if uninformed else journal.unconfirmed_writes():
            if call.tool == tool.alias and is_same(call.arguments):
                return run, call
    return None
