"""What cannot be decoded, said when the decoder is built and not while a model writes."""

from __future__ import annotations

from protocols.errors import AtcError


class Undecodable(AtcError):
    """No decoder can be built. The message names the tool and the clause of its schema, and the next step.

    `tool` is its alias, empty where it is not about one; `clause` the place in its schema, as a JSON pointer
    (`/properties/size/maximum`).
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
