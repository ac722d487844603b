"""HTML that is escaped by construction: whatever is not `Html` already is foreign text, and is made harmless here."""

from __future__ import annotations

from collections.abc import Iterable

from atc.terminal import UNSAFE, visible

VOID = frozenset({"br", "hr", "input", "line", "meta", "rect", "circle", "path", "polygon"})
"""Elements without content."""

# Besides, invisible letters, which do nothing on a terminal. Tabs and line feeds are as harmless as spaces.
_UNSEEN = [*UNSAFE, *range(0x200B, 0x200E), *range(0x2060, 0x2070), *range(0xFFF9, 0xFFFC)]
_SPELLED = {code: visible(code) for code in _UNSEEN if code not in (0x09, 0x0A)}
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
