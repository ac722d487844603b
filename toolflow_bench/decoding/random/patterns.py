"""Random regular expressions of ECMA's kind, each with a text that it matches."""

from __future__ import annotations

import random

_CLASSES = (
    ("[a-z]", "q"),
    ("[A-Z]", "Q"),
    ("[0-9]", "4"),
    (r"\d", "7"),
    (r"\w", "_"),
    (r"\s", " "),
    ("[^a-z]", "7"),
    ('[^"]', "x"),
    (".", "é"),
    ("[äöü]", "ö"),
    (r"[\\/]", "/"),
    ("[a-f0-9]", "c"),
    (r"[\-+]", "+"),
    (r"\S", '"'),
    (r"\D", "-"),
    ("[\\u4e00-\\u9fff]", "航"),
)
_LITERALS = ("a", "AB", "-", r"\.", "_", "#", r"\$", " ", '"', r"\\", "/", r"\(", "é", "id", r"\*", "'", "0")
_QUANTIFIERS = (
    ("", 1),
    ("", 1),
    ("?", 0),
    ("*", 2),
    ("+", 1),
    ("{2}", 2),
    ("{1,3}", 3),
    ("{0,2}", 0),
    ("{3,}", 3),
    ("+?", 2),
)


def draw_pattern(rng: random.Random) -> tuple[str, str]:
    """A regular expression, and a text in which it is found; most have anchors, some have one or none."""
    body, example = _alternatives(rng, depth=2)
    match rng.randrange(8):
        case 0:
            return body, rng.choice(("", "<", "\n")) + example + rng.choice(("", ">", "z"))
        case 1:
            return f"^(?:{body})", example + rng.choice(("", "tail"))
        case 2:
            return f"(?:{body})$", rng.choice(("", "head")) + example
        case _:
            return (f"^(?:{body})$" if "|" in body else f"^{body}$"), example


def _alternatives(rng: random.Random, *, depth: int) -> tuple[str, str]:
    count = rng.choice((1, 1, 1, 2, 3))
    drawn = [_sequence(rng, depth=depth) for _ in range(count)]
    return "|".join(regex for regex, _ in drawn), rng.choice(drawn)[1]


def _sequence(rng: random.Random, *, depth: int) -> tuple[str, str]:
    regex, example = "", ""
    for _ in range(rng.randrange(1, 4)):
        part, text = _part(rng, depth=depth)
        regex, example = regex + part, example + text
    return regex, example


def _part(rng: random.Random, *, depth: int) -> tuple[str, str]:
    if depth and rng.random() < 0.25:
        inner, text = _alternatives(rng, depth=depth - 1)
        opening = rng.choice(("(", "(?:"))
        atom, text = f"{opening}{inner})", text
    elif rng.random() < 0.6:
        atom, text = rng.choice(_CLASSES)
    else:
        literal = rng.choice(_LITERALS)
        text = literal.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")
        if len(text) > 1:
            return literal, text
        atom = literal
    quantifier, times = rng.choice(_QUANTIFIERS)
    return atom + quantifier, text * times
