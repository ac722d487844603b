"""One complaint of a structured error reply: where in the request, in which words, under which code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from protocols.jsontypes import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """`path` leads to the argument, empty where the reply names none; `sure`: a name in it is certainly an argument's.

    `code` is the machine's word for the fault (`string_too_short`, `any.only`), `parameters` what it says besides.
    """

    path: tuple[str, ...] = ()
    text: str = ""
    code: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    sure: bool = True
