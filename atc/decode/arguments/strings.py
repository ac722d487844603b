"""Strings between quotation marks: of a length, of a format, of a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from atc.decode.arguments.formats import FORMATS, format_tree
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.literals import Style, string_literal
from atc.decode.grammar import Pattern
from atc.regex import (
    ANY,
    Repeated,
    Tree,
    as_rust,
    found,
    lengths,
    literal,
    sought,
    tangled,
)
from atc.regex.tree import Alternatives, Row, row

_MANAGEABLE, _MANAGEABLE_STRING = 120, 16
"""Characters of an expression, and of a string, that a lexer manages whatever stands in the expression."""
_MANAGEABLE_WRITTEN = 1000
"""The same of an expression for so short a string, as it is written between quotation marks with all its escapes.

Of 3,000 random expressions that are tangled, llguidance gave up on 74; the shortest had 1,239 characters.
"""
_LONGEST = 2000
"""Characters up to which a string that a pattern demands is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """Strings of `least` to `most` characters that match all patterns and formats, and are none of `without`."""

    least: int = 0
    most: int | None = None
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()

    def both(self, other: Strings) -> Strings:
        """The strings of both."""
        ends = [most for most in (self.most, other.most) if most is not None]
        return Strings(
            least=max(self.least, other.least),
            most=min(ends) if ends else None,
            patterns=tuple(dict.fromkeys((*self.patterns, *other.patterns))),
            formats=tuple(dict.fromkeys((*self.formats, *other.formats))),
            without=self.without | other.without,
        )


@lru_cache(maxsize=4096)
def string_pattern(strings: Strings, style: Style, characters: int) -> Pattern:
    """A terminal of these strings, quotation marks and all, of up to `characters` characters if they can be so short.

    Raises:
        Impossible: there is no such string.
        PatternError: a pattern is no regular expression, or holds what no grammar can say.
    """
    if strings.most is not None and strings.least > strings.most:
        raise Impossible(f"minLength {strings.least} is more than maxLength {strings.most}", word="minLength")
    if strings.least > _LONGEST:
        raise Impossible(f"minLength {strings.least} is more than {_LONGEST}", word="minLength", unsaid=True)
    trees = string_trees(strings)
    most = _most(strings, trees, characters)
    length = Repeated(ANY, strings.least, most)
    without = [literal(text) for text in sorted(strings.without)]
    if len(trees) > 1 or without:
        _some(strings, [*trees, length], without)
    if not trees:
        trees = [length]
    elif len(trees) > 1 or not _fits(trees[0], strings, most):
        exact = _counted(trees[0], strings, most) if len(trees) == 1 else None
        trees = [exact] if exact is not None else [*trees, length]
    main, *also = (as_rust(string_literal(tree, style, plain=bool(without))) for tree in trees)
    written = sum(map(len, (main, *also)))
    if most > _MANAGEABLE_STRING or written > _MANAGEABLE_WRITTEN:
        _clear(strings, trees)
    return Pattern(main, tuple(also), tuple(as_rust(string_literal(tree, style)) for tree in without))


def _clear(strings: Strings, trees: list[Tree]) -> None:
    """Refuses what a lexer would give up on while a model writes."""
    if strings.patterns and any(len(as_rust(tree)) > _MANAGEABLE and tangled(tree) for tree in trees):
        why = f"the pattern {strings.patterns[0]!r} repeats repetitions that can be read in too many ways"
        raise Impossible(why, word="pattern", unsaid=True)


def string_trees(strings: Strings) -> list[Tree]:
    """What the strings must match each, their lengths aside: formats, then patterns."""
    return [
        *(format_tree(name) for name in strings.formats if name in FORMATS),
        *map(sought, strings.patterns),
    ]


def _most(strings: Strings, trees: list[Tree], characters: int) -> int:
    """The most characters of a string: what the schema says, or the bound, or what its patterns demand at least."""
    most = max(characters, strings.least)
    if strings.most is not None:
        most = min(most, strings.most)
    for tree in trees:
        top = min(_LONGEST, strings.most if strings.most is not None else _LONGEST)
        if not lengths(tree, most) >> strings.least:
            possible = lengths(tree, top) >> strings.least
            if not possible:
                raise Impossible(_why(strings, tree), word="pattern" if strings.patterns else "format")
            most = max(most, strings.least + (possible & -possible).bit_length() - 1)
    return most


def _why(strings: Strings, tree: Tree) -> str:
    what = " and ".join([*(f"format {f!r}" for f in strings.formats), *(f"pattern {p!r}" for p in strings.patterns)])
    if not lengths(tree, _LONGEST):
        return f"no string of at most {_LONGEST} characters matches {what}"
    ends = f"at least {strings.least}" + (f" and at most {strings.most}" if strings.most is not None else "")
    return f"no string of {ends} characters matches {what}"


def _some(strings: Strings, trees: list[Tree], without: list[Row]) -> None:
    if found(trees, without) is None:
        said = [*strings.formats, *strings.patterns]
        why = f"no string matches {', '.join(map(repr, said))} at once" if said else "no string is left"
        raise Impossible(why, word="pattern" if strings.patterns else "format")


def _fits(tree: Tree, strings: Strings, most: int) -> bool:
    """Whether every string that `tree` matches has a length between the bounds."""
    longest = _longest(tree)
    if longest is None or longest > most:
        return False
    return not lengths(tree, most) & ((1 << strings.least) - 1)


def _longest(tree: Tree) -> int | None:
    """The most characters that a matching string has, `None` where there is no end."""
    match tree:
        case Row(parts):
            each = [_longest(part) for part in parts]
            return None if None in each else sum(n for n in each if n is not None)
        case Repeated(part, _, most):
            one = _longest(part)
            return 0 if one == 0 or most == 0 else None if one is None or most is None else one * most
        case Alternatives(parts):
            each = [_longest(part) for part in parts]
            return None if None in each else max((n for n in each if n is not None), default=0)
    return 1


def _counted(tree: Tree, strings: Strings, most: int) -> Tree | None:
    """`tree` with its one repetition without end counted, where that alone keeps the bounds; else `None`."""
    parts = tree.parts if isinstance(tree, Row) else (tree,)
    endless = [i for i, part in enumerate(parts) if _longest(part) is None]
    if len(endless) != 1:
        return None
    loop = parts[endless[0]]
    if (
        not isinstance(loop, Repeated)
        or (width := _longest(loop.part)) is None
        or lengths(loop.part, width) != 1 << width
    ):
        return None
    rest = row([*parts[: endless[0]], *parts[endless[0] + 1 :]])
    longest = _longest(rest) or 0
    shortest = (lengths(rest, longest) & -lengths(rest, longest)).bit_length() - 1
    if longest != shortest and (strings.most is not None or strings.least > shortest):
        return None
    least = max(loop.least, -(-(strings.least - shortest) // width))
    counted = Repeated(loop.part, least, max(least, (most - shortest) // width))
    return row([*parts[: endless[0]], counted, *parts[endless[0] + 1 :]])
