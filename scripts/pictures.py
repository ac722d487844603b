"""Draw the pictures that `pictures.yaml` describes, as SVG files.

    python scripts/pictures.py

A picture consists of boxes and of arrows between them. `at` is the x, y, width and height of a box
in points. An arrow `a.b > c.t` goes from the bottom of the box `a` to the top of the box `c` (the
sides are l, r, t, b), and bends if the two boxes are not in line. The files are kept in git;
`tests/test_docs.py` draws the pictures again and compares them with the files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import yaml

SOURCE = Path(__file__).with_suffix(".yaml")
FOLDER = Path(__file__).resolve().parent.parent / "docs" / "how" / "pictures"

_COLOURS = {  # kind of a box: fill, border
    "step": ("#e8eefc", "#4263c4"),
    "data": ("#ffffff", "#8a94a6"),
    "code": ("#1f2430", "#1f2430"),
    "good": ("#e3f5e8", "#2f8f4e"),
    "bad": ("#fdeaea", "#c23b3b"),
    "ask": ("#fff5dc", "#b7860b"),
    "area": ("#f4f5f8", "#c3c9d4"),
    "note": ("none", "none"),
}
_SIDES = {"l": (0.0, 0.5), "r": (1.0, 0.5), "t": (0.5, 0.0), "b": (0.5, 1.0)}
_LINE = 17


def draw_picture(name: str, picture: Mapping[str, Any]) -> str:
    """Return one picture as SVG text."""
    boxes = picture["boxes"]
    places = [box["at"] for box in boxes.values()]
    width = max(x + w for x, _, w, _ in places) + 20
    height = max(y + h for _, y, _, h in places) + 20
    parts = [
        (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ),
        (
            f'     role="img" aria-labelledby="{name}-title" font-family="system-ui, sans-serif" '
            'font-size="13">'
        ),
        f'<title id="{name}-title">{escape(picture["title"])}</title>',
        (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto">'
        ),
        '<path d="M0 0L8 4L0 8z" fill="#3d4656"/></marker></defs>',
        f'<rect width="{width}" height="{height}" rx="10" fill="#fcfcfe"/>',
        *(_box(**box) for box in boxes.values()),
        *(_arrow(arrow, boxes) for arrow in picture.get("arrows", ())),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _box(at: list[int], text: str, kind: str = "data") -> str:
    x, y, width, height = at
    fill, border = _COLOURS[kind]
    lines = text.rstrip("\n").splitlines()
    middle = kind not in ("code", "note", "area")
    first = (
        y + (height - _LINE * (len(lines) - 1)) / 2 + 4.5 if middle or kind == "code" else y + 18
    )
    ink = "#f3f4f7" if kind == "code" else "#1f2430"
    anchor, column = ("middle", x + width / 2) if middle else ("start", x + 12)
    font = ' font-family="ui-monospace, monospace" font-size="12"' if kind == "code" else ""
    spans = ""
    for number, line in enumerate(lines):
        shown = escape(line if kind == "code" else line.removeprefix("# "))
        spans += (
            f'<text x="{column:g}" y="{first + _LINE * number:g}" fill="{ink}" '
            f'text-anchor="{anchor}" xml:space="preserve"{font}{_weight(line)}>{shown}</text>'
        )
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" '
        f'stroke="{border}"/>{spans}'
    )


def _weight(line: str) -> str:
    return ' font-weight="600"' if line.startswith("# ") else ""


def _arrow(spelled: str | Mapping[str, str], boxes: Mapping[str, Any]) -> str:
    """Return an arrow as SVG, with its label if it has one.

    `spelled` is `a.r > b.l` or, with a label, `{a.r > b.l: label}`.
    """
    route, label = (spelled, "") if isinstance(spelled, str) else next(iter(spelled.items()))
    match = re.fullmatch(r"(\w+)\.([lrtb]) > (\w+)\.([lrtb])", route)
    assert match, route
    start, leave, end, enter = match.groups()
    x1, y1 = _point(boxes[start]["at"], leave)
    x2, y2 = _point(boxes[end]["at"], enter)
    if leave == enter:  # the arrow leaves and enters on the same side
        away = max(y1, y2) + 24 if leave == "b" else min(y1, y2) - 24
        path = f"M{x1:g} {y1:g}V{away:g}H{x2:g}V{y2:g}"
        spot = ((x1 + x2) / 2, away - 6)
    elif leave in "lr" and enter in "lr":
        turn = (x1 + x2) / 2
        path = f"M{x1:g} {y1:g}H{turn:g}V{y2:g}H{x2:g}"
        spot = (turn, min(y1, y2) - 6)
    elif leave in "tb" and enter in "tb":
        turn = (y1 + y2) / 2
        path = f"M{x1:g} {y1:g}V{turn:g}H{x2:g}V{y2:g}"
        spot = ((x1 + x2) / 2, turn - 5)
    else:
        path = f"M{x1:g} {y1:g}" + (f"V{y2:g}H{x2:g}" if leave in "tb" else f"H{x2:g}V{y2:g}")
        spot = ((x1 + x2) / 2, (y2 if leave in "tb" else y1) - 6)
    side = "middle"
    if leave in "tb" and enter in "tb" and leave != enter and x1 == x2:
        spot = (x1 + 8, (y1 + y2) / 2 + 4)
        side = "start"
    line = (
        f'<path d="{path}" fill="none" stroke="#3d4656" stroke-width="1.5" '
        'marker-end="url(#head)"/>'
    )
    place = f'x="{spot[0]:g}" y="{spot[1]:g}" text-anchor="{side}"'
    return line + (
        f'<text {place} font-size="12" fill="#3d4656">{escape(label)}</text>' if label else ""
    )


def _point(at: list[int], side: str) -> tuple[float, float]:
    along, down = _SIDES[side]
    return at[0] + at[2] * along, at[1] + at[3] * down


def pictures() -> dict[str, str]:
    """Return all pictures as SVG text, keyed by the name of their file."""
    found = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    return {f"{name}.svg": draw_picture(name, picture) for name, picture in found.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in pictures().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
