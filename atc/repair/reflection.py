"""The paper's way (section 3.3, equation 2): the model names the tool that an error comes from, then revises.

First t_j = M(x, T, I_a, r_j): from the error message, with the faulty snippet and its trace, exactly a tool's name.
Then C_j = M(x, T, D, I_c, {(C_<j, r_<j)}, d_j): the program again, given that tool's documentation d_j.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from atc.prompts import fill
from atc.repair.case import Case
from atc.repair.documentation import documentation
from atc.repair.traceback import traceback_text
from protocols.ask import Message

_MOST_NAMES = 40
"""Tools that a question lists where the program names none."""
_LONGEST_ANSWER = 200
"""Characters of an answer that stay in the conversation where it names no tool."""


def told(case: Case) -> list[Message]:
    """The program, the question for the tool, the model's answer, and that tool's documentation."""
    names = case.named or list(case.tools)[:_MOST_NAMES]
    question = fill("reflect", error=traceback_text(case.attempt), tools=", ".join(names))
    answer = case.ask(question).strip()[:_LONGEST_ANSWER]
    tool = named_tool(answer, case.tools)
    about = [f"The error comes from {tool}."] if tool else []
    if tool and case.docs != "names":
        about.append(documentation(case.tools[tool], among=case.tools))
    said = Message("assistant", tool or answer or "(none)")
    return [case.written, Message("user", question), said, case.rewrite(about)]


def named_tool(reply: str, names: Collection[str]) -> str | None:
    """The tool that a reply names first, or None where it names none that there is."""
    words = re.findall(r"[^\W\d]\w*", reply)
    return next((word for word in words if word in names), None)
