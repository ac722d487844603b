"""Escaping of text for HTML pages, on top of MarkupSafe.

Text that is not `Markup` may come from anywhere. It is escaped for HTML, and its invisible
characters are shown as JSON escapes.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from atc.core.quoting import INVISIBLE
from atc.core.text import UNSAFE, escape_visibly

__all__ = ["ESCAPES", "NOTHING", "Markup", "escape", "escape_text", "span"]

# Tabs and line feeds are as harmless as spaces.
ESCAPES = {code: escape_visibly(code) for code in (*UNSAFE, *INVISIBLE) if code not in (0x09, 0x0A)}
"""JSON escapes of characters that are invisible or change other text, keyed by code point."""
NOTHING = Markup()


def escape_text(value: str) -> Markup:
    """Return `value` escaped for the content or an attribute of an HTML element.

    Invisible characters are written as JSON escapes. `Markup` is returned unchanged.
    """
    return escape(value if isinstance(value, Markup) else value.translate(ESCAPES))


def span(content: str, kind: str) -> Markup:
    """Return `content` in a `<span>` element of the CSS class `kind`."""
    return Markup('<span class="{}">{}</span>').format(escape_text(kind), escape_text(content))
