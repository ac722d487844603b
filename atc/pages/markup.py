"""HTML that is escaped by construction: whatever is not `Html` already is foreign text, and is made harmless here."""

from __future__ import annotations

from collections.abc import Iterable

VOID = frozenset({"br", "hr", "input", "line", "meta", "rect", "circle", "path", "polygon"})
"""Elements without content."""

# Controls, marks that turn the direction of writing, line ends that only some programs know, lone surrogates (which no
# file can hold as UTF-8), invisible letters and tag characters. Tabs and line feeds are as harmless as spaces.
_UNSEEN = [
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xD800, 0xE000),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
]
_SPELLED = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _UNSEEN} | {0x0D: "\\r"}
_ESCAPED = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&#39;"}
_HARMLESS = _SPELLED | _ESCAPED


class Html(str):
    """Markup that stands in a page as it is. Foreign text never becomes one but by `text`."""

    __slots__ = ()

    def __html__(self) -> Html:
        """What a template takes it as."""
        return self


NOTHING = Html()


def text(value: str) -> Html:
    """`value` as text of a page, in content and in attributes; what cannot be seen is spelt as in JSON."""
    return Html(value if hasattr(value, "__html__") else value.translate(_HARMLESS))


def tag(name: str, *children: str, **attributes: str | float | bool | None) -> Html:
    """An element. `class_` is `class`, `data_run` is `data-run`; None and False leave an attribute out."""
    opened = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelt = key.rstrip("_").replace("_", "-")
        opened.append(f" {spelt}" if value is True else f' {spelt}="{text(_attribute(value))}"')
    start = "".join(opened)
    if name in VOID and not children:
        return Html(f"{start}/>")
    return Html(f"{start}>{''.join(map(text, children))}</{name}>")


def join(parts: Iterable[str], between: str = "") -> Html:
    """The parts one after the other."""
    return Html(text(between).join(map(text, parts)))


def _attribute(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
