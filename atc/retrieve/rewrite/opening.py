"""What the model is asked when a query is expanded."""

from __future__ import annotations

from collections.abc import Sequence

from atc.retrieve.document import ToolDocument
from atc.retrieve.rewrite.methods import Method
from atc.retrieve.rewrite.prompts import fill
from protocols.abridge import clipped
from protocols.ask import Message

_QUERY_CHARACTERS = 4000
_TOOL_CHARACTERS = 300
"""Of the query, and of a tool of the first pass: so that a prompt fits a small context."""


def opening(method: Method, query: str, shown: Sequence[ToolDocument]) -> list[Message]:
    """The conversation that asks for one sample; `shown` are tools of a first pass, best first.

    What is the same for every query stands first, so that a model reads it once.
    """
    messages = [Message("system", fill(f"{method.writes}_feedback" if shown else method.writes))]
    if method.example:
        messages.append(Message("user", fill("request", query=fill("example_request"))))
        messages.append(Message("assistant", fill(f"example_{method.writes}")))
    asked = clipped(query.strip(), _QUERY_CHARACTERS)
    if not shown:
        return [*messages, Message("user", fill("request", query=asked))]
    tools = "\n".join(_line(document) for document in shown)
    return [*messages, Message("user", fill("request_feedback", query=asked, tools=tools))]


def _line(document: ToolDocument) -> str:
    said = " ".join(f"- {document.name}: {document.description or document.title}".split())
    parameters = f" (parameters: {', '.join(document.parameters)})" if document.parameters else ""
    return clipped(said, _TOOL_CHARACTERS) + clipped(parameters, _TOOL_CHARACTERS)
