"""The error for tools whose calls cannot be constrained.

It is raised when the grammar or the matcher of their calls is built.
"""

from __future__ import annotations

from protocols.errors import AtcError


class Undecodable(AtcError):
    """No grammar or matcher can be built that constrains a model to valid calls.

    The message names the tool, the clause of its schema, and the next step. `tool` is the tool's
    alias, or "" if the error does not concern a tool. `clause` is the JSON pointer of the clause in
    the tool's schema (`/properties/size/maximum`).
    """

    def __init__(self, problem: str, *, tool: str = "", clause: str = "", hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.tool = tool
        self.clause = clause
        self.hint = hint

    def __str__(self) -> str:
        place = " at ".join(filter(None, (self.tool, self.clause)))
        return " ".join(filter(None, (f"{place}:" if place else "", self.problem, self.hint)))
