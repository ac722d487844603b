"""Reads a regular expression: what JSON Schema's `pattern` and Rust's syntax have in common, and a little more."""

from __future__ import annotations

from functools import lru_cache

from atc.regex.tree import (
    ANY,
    EMPTY,
    LAST,
    Anchor,
    Chars,
    Repeated,
    Tree,
    alternatives,
    chars,
    others,
    row,
    single,
)

MOST_REPEATS = 2000
"""A larger count is refused: no tool needs it, and a lexer that counts so far is slow."""


class PatternError(ValueError):
    """A regular expression that is none, or that holds what no grammar can say. The message names that part."""


_DIGITS = chars([(48, 57)])
_WORD = chars([(48, 57), (65, 90), (95, 95), (97, 122)])
# ECMA-262's white space: what `\s` stands for in JSON Schema.
_SPACE = chars(
    [
        *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
        *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
    ]
)
_LINE = others(chars([(10, 10), (13, 13), (0x2028, 0x2029)]))
_CLASSES = {
    "d": _DIGITS,
    "D": others(_DIGITS),
    "w": _WORD,
    "W": others(_WORD),
    "s": _SPACE,
    "S": others(_SPACE),
}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}


@lru_cache(maxsize=2048)
def parse(pattern: str) -> Tree:
    """`pattern` as a tree, anchors included.

    Classes mean what JSON Schema's dialect (ECMA-262) lets them mean: a digit is an ASCII digit, `.` no line's end.

    Raises:
        PatternError: it is no regular expression, or looks around, refers back, or asks for word boundaries.
    """
    reader = _Reader(pattern)
    tree = reader.alternatives()
    if reader.left:
        raise PatternError("a closing parenthesis has no opening one")
    return tree


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self._depth = pattern, 0, 0
        self._any: Chars = _LINE

    @property
    def left(self) -> str:
        return self._pattern[self._at :]

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        if self._pattern.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _char(self) -> str:
        if not (char := self._next()):
            raise PatternError("it ends in the middle")
        self._at += 1
        return char

    def alternatives(self) -> Tree:
        self._depth += 1
        if self._depth > 60:
            raise PatternError("its groups are nested too deeply")
        parts = [self._row()]
        while self._take("|"):
            parts.append(self._row())
        self._depth -= 1
        return alternatives(parts)

    def _row(self) -> Tree:
        parts: list[Tree] = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom()))
        return row(parts)

    def _repeated(self, part: Tree) -> Tree:
        counts = self._counts()
        if counts is None:
            return part
        # What is lazy finds the same strings.
        self._take("?")
        if self._next() in ("*", "+", "?", "{"):
            raise PatternError(f"{self._next()!r} repeats a repetition")
        least, most = counts
        if isinstance(part, Anchor):
            return part if least else EMPTY
        return Repeated(part, least, most)

    def _counts(self) -> tuple[int, int | None] | None:
        for sign, counts in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return counts
        if self._next() != "{":
            return None
        end = self.left.find("}")
        low, comma, high = self.left[1:end].partition(",")
        if end < 0 or not (low.isascii() and low.isdigit()) or (high and not (high.isascii() and high.isdigit())):
            raise PatternError("a brace that stands for itself needs a backslash")
        least, most = int(low), int(high) if high else None if comma else int(low)
        if max(least, most or 0) > MOST_REPEATS:
            raise PatternError(f"it repeats more than {MOST_REPEATS} times")
        if most is not None and least > most:
            raise PatternError(f"{{{least},{most}}} is out of order")
        self._at += end + 1
        return least, most

    def _atom(self) -> Tree:
        char = self._char()
        match char:
            case "(":
                return self._group()
            case "[":
                return self._class()
            case ".":
                return self._any
            case "^" | "$":
                return Anchor("^" if char == "^" else "$")
            case "\\":
                return self._escape()
            case "*" | "+" | "?" | "{":
                raise PatternError(f"{char!r} has nothing to repeat")
            case "}" | "]":
                raise PatternError(f"{char!r} closes nothing")
        return single(char)

    def _group(self) -> Tree:
        outer = self._any
        if self._take("?"):
            if self._take("s:"):
                self._any = ANY
            elif self._take("P<") or (self._next() == "<" and self.left[1:2] not in ("=", "!")):
                self._at = self._pattern.find(">", self._at) + 1 or len(self._pattern)
            elif not self._take(":"):
                around = self._next() in ("=", "!", "<")
                what = "looking ahead or behind" if around else "a flag"
                raise PatternError(f"{what} ({'(?' + self.left[:2]!r}) is not supported")
        inner = self.alternatives()
        if not self._take(")"):
            raise PatternError("a group is not closed")
        self._any = outer
        return inner

    def _escape(self) -> Tree:
        char = self._char()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in "bB":
            raise PatternError("a word boundary is not supported")
        if char in "pPk" or (char.isdigit() and char != "0"):
            what = "a property of characters" if char in "pP" else "a reference to a group"
            raise PatternError(f"{what} (\\{char}) is not supported")
        return single(self._escaped(char))

    def _escaped(self, char: str) -> str:
        """The one character that an escape stands for, the backslash and `char` read."""
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "c" and self._next().isalpha():
            return chr(ord(self._char().upper()) - 64)
        if char in "xu":
            return self._code(2 if char == "x" else 4)
        if char.isascii() and char.isalnum():
            raise PatternError(f"\\{char} means nothing")
        return char

    def _code(self, width: int) -> str:
        if self._take("{"):
            digits, brace, _ = self.left.partition("}")
            self._at += len(digits) + len(brace)
        else:
            digits = self.left[:width]
            self._at += len(digits)
        try:
            code = int(digits, 16)
        except ValueError:
            raise PatternError(f"{digits!r} is no code of a character") from None
        if code > LAST or 0xD800 <= code < 0xE000:
            raise PatternError(f"U+{code:04X} is no character")
        return chr(code)

    def _class(self) -> Tree:
        negated = self._take("^")
        found: list[tuple[int, int]] = []
        # A bracket at the beginning closes an empty class in ECMA-262; Rust takes it for a character.
        while not self._take("]"):
            one = self._member()
            if isinstance(one, str) and self._next() == "-" and self.left[1:2] not in ("]", ""):
                self._at += 1
                last = self._member()
                if not isinstance(last, str) or last < one:
                    raise PatternError("a range of characters is out of order")
                found.append((ord(one), ord(last)))
            else:
                found.extend(single(one).ranges if isinstance(one, str) else one.ranges)
        these = chars(found)
        return others(these) if negated else these

    def _member(self) -> str | Chars:
        char = self._char()
        if char == "[" and self._next() in (":", ".", "="):
            raise PatternError("a POSIX class is not supported")
        if char in "&-~" and self._next() == char:
            raise PatternError("operations on classes are not supported")
        if char != "\\":
            return char
        escape = self._char()
        if escape in _CLASSES:
            return _CLASSES[escape]
        if escape == "b":
            return "\b"
        if escape in "pP":
            raise PatternError("a property of characters is not supported")
        return self._escaped(escape)
