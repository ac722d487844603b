"""Converts a text to the form that people see: without colours, markup and hidden characters.

This displayed form is searched for secrets, too. A secret that is found in it is also reported in
the spelling of the original text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from urllib.parse import unquote_plus

from protocols.naming import split_words
from protocols.secrets.names import HIDDEN, OTHER_SCRIPTS

_Edit = tuple[int, int, str]
"""Start and end of a piece of text, and its replacement."""
_MOST_SCANS = 200
"""Maximum number of values whose position is searched from the beginning of a text. Such a search
is slow.
"""
_MOST_NAMES = 8_000
"""Maximum number of names in other scripts that are translated in one text."""
_AROUND = 1_000
"""Number of characters that are searched before and after each difference from the original text.
"""
_NEAR = 20_000
"""The next value is first searched for in this many characters after the last value."""

# Each alternative begins with a plain character, so that the search skips others quickly.
_COLOUR = r"\[[0-?]{0,40}[\x20-/]{0,4}[@-~]"
_ESCAPED = re.compile(
    rf"""\x1b{_COLOUR} | \\e{_COLOUR} | \\033{_COLOUR} | \\x1b{_COLOUR} | \\u001b{_COLOUR}
    | \x1b\][^\x07\x1b\n]{{0,300}}(?:\x07|\x1b\\)
    | %(?:25){{0,2}}[0-9A-Fa-f]{{2}}(?:\+?%(?:25){{0,2}}[0-9A-Fa-f]{{2}})*
    | &(?:\#\d{{1,7}}|\#[xX][0-9A-Fa-f]{{1,6}}|[A-Za-z]{{2,10}});
    | \\u00[2-7][0-9A-Fa-f] | \\x[2-7][0-9A-Fa-f]""",
    re.VERBOSE,
)
_NESTED_PERCENT = re.compile("%(?:25)+(?=[0-9A-Fa-f]{2})")
_ODD = re.compile(r"[^\x00-\x7f]{1,200}")
_ACCENTS = frozenset(map(chr, range(0x300, 0x370)))

_LINES = split_words(
    "blockquote br dl h1 h2 h3 h4 h5 h6 hr li ol p pre section table tbody tfoot thead tr ul"
)
"""HTML tags that begin a new line."""
_TAG = rf"""/?(?:{"|".join(_LINES)}
|a|abbr|b|big|cite|code|dd|del|dfn|div|dt|em|figcaption|font|i|ins|kbd|label|legend|mark|q|s|samp
|small|span|strike|strong|sub|summary|sup|td|th|time|tt|u|var)(?:[\s/][^<>]{{0,300}})?>"""
_TAGS = re.compile(
    rf"""<(?: {_TAG}\s{{0,20}}(?:<{_TAG}\s{{0,20}}){{0,11}}
    | /[\w:.-]{{1,40}}>\s{{0,20}}<[\w:.-]{{1,40}}(?:\s[^<>\n]{{0,200}})?>)""",
    re.VERBOSE | re.IGNORECASE,
)
_LINE_TAG = re.compile(rf"</?(?:{'|'.join(_LINES)})(?![\w:.-])", re.IGNORECASE)
_NEXT_CELL = re.compile(r"</[^<]*<[^/]")
"""The end of an element, followed by the beginning of another one."""
_BBCODE = re.compile(
    r"\[/?(?:b|i|u|s|code|tt|mono|quote|color|size|font|url|center)(?:=[^\]\n]{1,40})?\]",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"""(?P<mark>[*_~|='\\])(?:
    (?<=\*)(?<![\w*]\*)(?P<a>\*{0,2})(?=[^\s*])[^*\n]{1,100}(?<=\S)(?P=mark)(?P=a)(?!\*)
    | (?<=_)(?<![\w_]_)(?P<b>_{0,2})(?=[^\s_])[^_\n]{1,100}(?<=\S)(?P=mark)(?P=b)(?!\w)
    | (?P<c>(?<=~)~|(?<=\|)\||(?<==)=|(?<=')'{1,2})
      (?=[^\s~|='])[^~|='\n]{1,100}(?<=\S)(?P=mark)(?P=c)(?![~|='])
    | (?<=\\)(?P<d>(?:text(?:bf|it|tt|sf|rm)|emph|underline|mathbf)\{)[^{}\n]{1,100}\})""",
    re.VERBOSE,
)
_FIELD = re.compile(r"\n[ \t]{0,20}(:)(?=\w[\w -]{0,40}:[ \t]+\S)")
"""A field in reStructuredText: `:name: value`."""
_NODE = re.compile(r":([ \t]{1,20}(?:&[\w-]{1,40}|!!\w{1,20}))(?=[ \t]+\S)")
"""Anchors (`&name`) and types (`!!str`) of YAML before a value."""
_LEADER = re.compile(
    r"""[. \t](?<![. \t].)(?:(?<=\.)(?:\.{2,79}+[ \t]{0,4}:|\.{3,79}+[ \t])
    | (?<=[ \t])[ \t]{0,3}(?:\.{3,80}+[ \t]{0,4}:|\.{4,80}+[ \t]))""",
    re.VERBOSE,
)
"""Dots between a name and its value."""


class ReadableText:
    """The form of a text that people see, whose parts can be found in the original text.

    `source` is the original text, and `text` is the displayed form.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.text = source
        self._steps: list[tuple[list[int], list[int]]] = []
        self._done = 0
        self._scans = _MOST_SCANS
        # By value: where its last search began, its position in `text`, and its original spelling.
        self._spelled: dict[str, tuple[int, int, str]] = {}
        self._change(_without_escapes(self.text))
        self._change(_without_odd_letters(self.text))
        self._change(_without_markup(self.text))
        self._change(_without_emphasis(self.text))
        self._change(_without_marks(self.text))
        self._change(_translate_names(self.text))

    def pieces(self) -> Iterator[str]:
        """Yield the parts of the displayed form that differ from the original text.

        Each part includes some of the text before and after the difference.
        """
        starts: list[int] = []
        for number, (here, _) in enumerate(self._steps):
            last = -_AROUND
            for place in here:
                if place - last >= _AROUND // 2:
                    last = place
                    starts.append(self._position_in_view(place, number + 1))
        done = 0
        begin = -1
        for place in [*sorted(starts), len(self.text) + 3 * _AROUND]:
            if begin >= 0 and place - done > 2 * _AROUND:
                first = self.text.rfind("\n", max(0, begin - _AROUND), max(0, begin - 200)) + 1
                yield self.text[first or max(0, begin - _AROUND) : done + 2 * _AROUND]
                begin = -1
            begin = place if begin < 0 else begin
            done = place

    def _position_in_view(self, place: int, step: int) -> int:
        """Return the index in the displayed form for an index in an intermediate form of the text.

        The text is converted in several steps. The intermediate form is the result of the first
        `step` steps.
        """
        for here, before in self._steps[step:]:
            at = bisect_right(before, place)
            if at:
                place = here[at - 1] + place - before[at - 1]
                place = min(place, here[at]) if at < len(here) else place
        return place

    def iter_source_forms(self, value: str) -> Iterator[str]:
        """Yield a value that was found in the displayed form, then its spelling in the original.

        The second is omitted if both are equal.
        """
        yield value
        begin, start, spelled = self._spelled.get(value, (0, -1, value))
        # Otherwise another occurrence may be the next one.
        if not begin <= self._done <= start <= self._done + _NEAR - len(value):
            begin = self._done
            start = self.text.find(value, self._done, self._done + _NEAR)
            if start < 0 and self._scans > 0:
                self._scans -= 1
                begin = 0
                start = self.text.find(value)
            if start < 0:
                return
            first = self._position_in_source(start, bisect_right)
            last = self._position_in_source(start + len(value), bisect_left)
            spelled = self.source[first:last]
            self._spelled[value] = begin, start, spelled
        self._done = max(0, start - _NEAR // 2)
        if spelled != value:
            yield spelled

    def _change(self, edits: Iterable[_Edit]) -> None:
        """Apply edits to the displayed form, in ascending order of their positions."""
        pieces: list[str] = []
        here: list[int] = []
        before: list[int] = []
        done = 0
        length = 0
        for start, end, new in edits:
            pieces += [self.text[done:start], new]
            length += start - done
            here += [length, length + len(new)]
            before += [start, end]
            done = end
            length = length + len(new)
        if pieces:
            self.text = "".join([*pieces, self.text[done:]])
            self._steps.append((here, before))

    def _position_in_source(self, place: int, bisect: Callable[[list[int], int], int]) -> int:
        """Return the index in the original text for an index in the displayed form.

        `bisect` is `bisect_right` for the beginning of a value, and `bisect_left` for its end.
        """
        for here, before in reversed(self._steps):
            at = bisect(here, place)
            if at:
                moved = before[at - 1] + place - here[at - 1]
                place = min(moved, before[at]) if at < len(before) else moved
        return place


def _without_escapes(text: str) -> Iterator[_Edit]:
    """Yield the edits that decode escaped characters (`%20`, `&amp;`) and remove colours."""
    if not any(mark in text for mark in "\x1b%&\\"):
        return
    for found in _ESCAPED.finditer(text):
        old = found[0]
        new = ""
        if old[0] == "%":
            new = unquote_plus(_NESTED_PERCENT.sub("%", old), errors="replace")
        elif old[0] == "&":
            new = html.unescape(old)
        elif old[0] == "\\" and "[" not in old:
            new = chr(int(old[-2:], 16))
        if new != old:
            yield found.start(), found.end(), new


def _without_odd_letters(text: str) -> Iterator[_Edit]:
    """Yield the edits that replace unusual letters by plain ones and remove hidden characters."""
    if text.isascii():
        return
    plain = _plain_letters()
    for found in _ODD.finditer(text):
        start, end = found.span()
        start -= text[start] in _ACCENTS and start > 0  # an accent belongs to the letter before
        old = text[start:end]
        new = old.translate(plain)
        new = new if _ACCENTS.isdisjoint(new) else unicodedata.normalize("NFC", new)
        if len(new) == len(old):
            yield from ((start, end, new),) if new != old else ()
        elif _ACCENTS.isdisjoint(old):
            yield from (
                (start + n, start + n + 1, plain.get(ord(one), one)) for n, one in enumerate(old)
            )
        else:
            yield start, end, new


@cache
def _plain_letters() -> dict[int, str]:
    """Return the plain form of each unusual character, keyed by its code point."""
    codes = [
        *range(0x80, 0xD800),
        *range(0xF900, 0x10000),
        *range(0x1D400, 0x1D800),
        *range(0x1F100, 0x1F200),
    ]
    plainer = {
        one: unicodedata.normalize("NFKC", chr(one)) for one in codes if chr(one) not in _ACCENTS
    }
    hidden = {one: "" for one in [*codes, *range(0xE0000, 0xE0080)] if HIDDEN.match(chr(one))}
    arrows = {ord(one): "->" for one in "→⇒➜➔➡⟶⟹↦"}
    return {one: letter for one, letter in plainer.items() if letter != chr(one)} | arrows | hidden


def _without_markup(text: str) -> Iterator[_Edit]:
    """Yield the edits that replace tags by line breaks, cell separators or nothing."""
    if "<" in text and ">" in text:
        for found in _TAGS.finditer(text):
            yield (
                found.start(),
                found.end(),
                _text_between_tags(found[0], text[max(0, found.start() - 3) : found.start()]),
            )
    elif "[/" in text:
        yield from ((found.start(), found.end(), "") for found in _BBCODE.finditer(text))


def _text_between_tags(tags: str, before: str) -> str:
    """Return the text that replaces adjacent HTML tags, such as a line break or a cell separator.

    `before` is the text in front of them.
    """
    if _LINE_TAG.search(tags) is not None:
        return "\n "
    if _NEXT_CELL.search(tags) is not None:
        return " " if before.rstrip()[-1:] in (":", "=", "|") else " | "
    return " " if tags[-1].isspace() else ""


def _without_emphasis(text: str) -> Iterator[_Edit]:
    """Yield the edits that remove the markup of bold, italic and struck-out words (`**word**`)."""
    for found in _EMPHASIS.finditer(text):
        inner = found.end(found.lastgroup or "")
        closing = 1 if found["d"] else inner - found.start()
        yield found.start(), inner, ""
        yield found.end() - closing, found.end(), ""


def _without_marks(text: str) -> list[_Edit]:
    """Return the edits that remove syntax between a name and its value, such as leader dots."""
    edits = [(found.start(1) - 1, found.end(1) - 1, "") for found in _FIELD.finditer(f"\n{text}")]
    edits += [(found.start(1), found.end(1), "") for found in _NODE.finditer(text)]
    edits += [(found.start(), found.end(), ": ") for found in _LEADER.finditer(text)]
    return sorted(edits)


def _translate_names(text: str) -> Iterator[_Edit]:
    """Yield the edits that replace words for "password" in other scripts by the English word."""
    if not text.isascii():
        for found in islice(OTHER_SCRIPTS.finditer(text), _MOST_NAMES):
            yield found.start(), found.end(), " password: " if found["is"] else " password "
