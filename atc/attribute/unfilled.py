"""A variable that is still None, 0 or empty when it is used, since nothing replaced what the program began with."""

from __future__ import annotations

from atc.attribute.blame import Record, best
from atc.attribute.misread import told
from atc.attribute.suspects import Suspect, nothing
from atc.types import Fault
from sandbox.trace import Failure, ToolCall


def from_unfilled(failure: Failure, call: ToolCall, name: str, record: Record) -> Fault | None:
    """The fault behind an argument that is a None of the program's own: what should have replaced it was not there.

    That is a result without items, one of whose items none passed the program's tests, or calls that all failed.
    """
    if name in call.arguments and call.arguments[name] is not None:
        return None
    node = record.site(call)
    given = next((k.value for k in node.keywords if k.arg == name), None) if node is not None else None
    if given is None:
        return None
    suspect = Suspect(given, "empty", nothing)
    chosen = best(record.candidates(suspect, [source.derived() for source in record.slicer.control(given)]))
    if chosen is None or not (chosen.proven or chosen.source.filters):
        return None
    return told(failure, chosen, record)
