"""Writes of stored runs whose callers may not know the outcome."""

from __future__ import annotations

from atc.store import RunStore
from protocols.schema import JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.arguments import contract
from sandbox.journal import Journal, canonical_call
from sandbox.trace import ToolCall


def find_write_in_doubt(
    store: RunStore, toolbox: Toolbox, tool: Tool, arguments: JsonObject
) -> tuple[str, ToolCall] | None:
    """Return the stored run that made this same write, and its call; None if there is no such run.

    Arguments are compared by original name. A write counts if nobody knows whether it took effect.
    It also counts if it took effect and the run was then interrupted, or waits for the answer to a
    question that a client was given.
    """
    defaults = tool.original_arguments(contract(tool.protocol).defaults)
    wanted = canonical_call(tool.alias, {**defaults, **arguments})

    def same(given: JsonObject) -> bool:
        return canonical_call(tool.alias, {**defaults, **tool.original_arguments(given)}) == wanted

    for run, calls in store.find_unconfirmed_writes(tool.alias).items():
        if not any(map(same, calls)):
            continue
        stored = store.load(run)
        if (
            stored.summary.status == "running"
            or stored.summary.identities.get(tool.alias) != tool.identity
        ):
            continue
        journal = Journal()
        journal.restore(stored.calls, toolbox)
        unheard = stored.summary.status == "interrupted" or store.questions.has_open_question(run)
        made = journal.writes() if unheard else journal.unconfirmed_writes()
        found = next(
            (call for call in made if call.tool == tool.alias and same(call.arguments)), None
        )
        if found is not None:
            return run, found
    return None
