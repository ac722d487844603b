"""HTML that is escaped by construction: whatever is not `Html` already is foreign text, and is made harmless here."""

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
    """Markup that stands in a page as it is. Foreign text never becomes one but by `text`."""

    __slots__ = ()

    def __html__(self) -> Html:
        """What a template takes it as."""
        return self


NOTHING = Html()


def escape_text(value: str) -> Html:
    """`value` as text of a page, in content and in attributes; what cannot be seen is spelt as in JSON."""
    return Html(value if hasattr(value, "__html__") else value.translate(_HARMLESS))


def span(content: str, kind: str) -> Html:
    """`content` in an element of the class `kind`."""
    return Html(f'<span class="{escape_text(kind)}">{escape_text(content)}</span>')
