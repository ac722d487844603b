"""The colours of Python programs on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from atc.core.quoting import escape_hidden

_STYLES = {
    "Comment": "dim italic",
    "Keyword": "magenta",
    "Literal.Number": "cyan",
    "Literal.String": "green",
    "Operator.Word": "magenta",
}
"""The style of each kind of token, and of the kinds below it.

They are colours of the terminal's own palette, so they are readable on a light and on a dark
background.
"""


def highlight_lines(lines: Sequence[str]) -> list[Text]:
    """Return the lines of a program with coloured syntax. Control characters are escaped."""
    from pygments.lexers.python import PythonLexer  # slow to import, and needed on terminals only

    source = "\n".join(map(escape_hidden, lines))
    shown = Text(source)
    place = 0
    for kind, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        if style := _style_of(str(kind).removeprefix("Token.")):
            shown.stylize(style, place, place + len(text))
        place += len(text)
    return list(shown.split("\n", allow_blank=True))


def _style_of(kind: str) -> str:
    """Return the style of a kind of token, such as `Literal.String.Affix`; "" without one."""
    return next((style for name, style in _STYLES.items() if f"{kind}.".startswith(f"{name}.")), "")
