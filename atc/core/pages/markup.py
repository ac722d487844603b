"""HTML that is escaped by construction: whatever is not an `Html` yet is foreign text, and is
escaped here.
"""

from __future__ import annotations

from atc.core.quoting import INVISIBLE
from atc.core.text import UNSAFE, escape_visibly

# Besides, invisible letters, which do nothing on a terminal. Tabs and line feeds are as harmless as spaces.
_UNSEEN = [*UNSAFE, *INVISIBLE]
SPELLED = {code: escape_visibly(code) for code in _UNSEEN if code not in (0x09, 0x0A)}
_ESCAPED = {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#39;",
}
_HARMLESS = SPELLED | _ESCAPED


class Html(str):
    """Markup that is put into a page as it is. Only `text` makes foreign text an `Html`."""

    __slots__ = ()

    def __html__(self) -> Html:
        """Return the markup itself, for templates."""
        return self


NOTHING = Html()


def escape_text(value: str) -> Html:
    """Return `value` as text of a page, for content and attributes. Invisible characters are
    escaped as in JSON.
    """
    return Html(value if hasattr(value, "__html__") else value.translate(_HARMLESS))


def span(content: str, kind: str) -> Html:
    """Return `content` in an element of the class `kind`."""
    return Html(f'<span class="{escape_text(kind)}">{escape_text(content)}</span>')
