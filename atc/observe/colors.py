"""The colours of Python programs on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from atc.core.python_tokens import read_tokens
from atc.core.quoting import escape_hidden

_STYLES = {
    "": "",
    "comment": "dim italic",
    "keyword": "magenta",
    "number": "cyan",
    "string": "green",
}
"""The style of each kind of token.

They are colours of the terminal's own palette, so they are readable on a light and on a dark
background.
"""


def highlight_lines(lines: Sequence[str]) -> list[Text]:
    """Return the lines of a program with coloured syntax. Control characters are escaped."""
    source = "\n".join(map(escape_hidden, lines))
    shown = Text.assemble(*((text, _STYLES[kind]) for kind, text in read_tokens(source)))
    return list(shown.split("\n", allow_blank=True))
