"""The parts of a Python program that are shown in colours, on a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

TokenKind = Literal["", "comment", "keyword", "number", "string"]
"""The kind of a part of a program; "" for a part without a colour."""
_KINDS: dict[str, TokenKind] = {
    "Token.Comment": "comment",
    "Token.Keyword": "keyword",
    "Token.Operator.Word": "keyword",
    "Token.Literal.Number": "number",
    "Token.Literal.String": "string",
}
"""The kind of each type of tokens of pygments, and of the types below it."""


def read_tokens(source: str) -> Iterator[tuple[TokenKind, str]]:
    """Yield the parts of a program in order, each with its kind. Joined, they are the source.

    Each line end is a line feed. The source may be any text.
    """
    from pygments.lexers.python import PythonLexer  # slow to import, and rarely needed

    for token, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        name = f"{token}."
        yield next((kind for key, kind in _KINDS.items() if name.startswith(f"{key}.")), ""), text
