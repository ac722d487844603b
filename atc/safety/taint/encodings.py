"""Decoding of texts in common encodings: escapes, line continuations, base64, compression, etc."""

from __future__ import annotations

import base64
import binascii
import bz2
import html
import lzma
import quopri
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from urllib.parse import unquote

_DEPTH = 8
"""Maximum number of nested encodings that are decoded."""
_MOST_FORMS = 64
_SHORT = 200
"""Decodings of shorter texts are cached, since the same names occur many times in a call."""
_LONGEST_INNER = 1_000_000
"""Maximum length of what is decoded, in characters or bytes. A longer text is opaque anyway."""

_ESCAPE = re.compile(
    r"\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|U000([\da-fA-F]{5})|u\{0*([\da-fA-F]{1,5})\})",
    re.ASCII,
)
_UNICODE_PERCENT = re.compile(r"%u([\da-fA-F]{4})", re.ASCII)
_NAMED = re.compile(r"\\N\{([A-Z][A-Z \d-]{1,80})\}")
_MAIL_WORD = re.compile(r"=\?[\w-]{1,40}(?:\*[\w-]{1,20})?\?([qQbB])\?([^?\s]{1,400})\?=")
_COMMENT = re.compile(r"/\*.{0,400}?\*/|<!--.{0,400}?-->|\$\{\w{0,40}\}|\}\}\{\{", re.DOTALL)
_LISTED = re.compile(r"(?m)^[ \t]*(?:\d{1,4}[.)]|[>*-])[ \t]*|[\"',;+ \t]+$|^[\"']")
"""List numbers, quotation marks and separators at the beginning and end of lines."""
_BASE32 = re.compile(r"(?<![A-Z\d])[A-Z2-7]{12,}={0,6}(?![A-Z\d=])")
_OCTAL = re.compile(r"\\(?:0o?)?([0-3]?[0-7]{2})", re.ASCII)
_CONTINUED = re.compile(r"(?:\\|(?<!=)=)[ \t]*\r?\n[ \t]*")
"""The end of a line that continues: a backslash, or `=` as in e-mails."""
_FOLDED = re.compile(r"\r?\n[ \t]+")
_LISTED_TEXTS = re.compile(r"(?<![\"'`])([\"'`])\s*,\s*\1(?![\"'`])")
_SHORTEST_RUN = 8
_ADJACENT = re.compile(r"(?<![\"'`])([\"'`])\s*(?:\+|\.\.?|&|\|\||~)?\s*\1(?![\"'`])")
"""Two adjacent texts in quotes, which many languages concatenate."""
_CARET = re.compile(r"(?<=[a-z])\^(?=[a-z])", re.IGNORECASE)
"""The escape character of the Windows shell."""
_MAIL_ESCAPES = re.compile(r"=[\dA-Fa-f]{2}", re.ASCII)
_UTF7 = re.compile(r"\+[A-Za-z\d+/]+-?", re.ASCII)
_RUN = re.compile(r"[A-Za-z\d+/_-]{6,}={0,2}", re.ASCII)
_RUN_ALONE = re.compile(r"[A-Za-z\d+/_=-]+", re.ASCII)
_NO_WORD = re.compile(r"\d|[^\W_][A-Z]")
"""Matches what encoded texts contain and words do not: a digit, or a capital after a letter."""
_HEX_PAIRS = re.compile(r"(?:(?:0x|\\x|%)?[\da-f]{2}h?[\s:,;.-]*){4,}", re.IGNORECASE | re.ASCII)
_NUMBERS = re.compile(r"[\[({\s]*\d{1,3}(?:[\s,;:.|/-]+\d{1,3}){5,}[\])}\s]*", re.ASCII)
_NUMBER_RUN = re.compile(rf"(?:\A|[\[(]){_NUMBERS.pattern}(?:\Z|[\])])", re.ASCII)
"""Numbers that are a whole text, or in brackets: `bytes([123, 34])`."""
_BITS = re.compile(r"(?:[01]{7,8}[\s,]*){6,}", re.ASCII)
_TAGS = {0xE0000 + code: chr(code) for code in range(32, 127)}
"""Invisible letters of Unicode, each with its visible form."""
_PRINTED = re.compile(rb"[^\t\n\r -~]+")


def find_decodings(text: str) -> list[str]:
    """Return the text, followed by every text that common decoders produce from it."""
    return list(_cached_decodings(text) if len(text) < _SHORT else _find_decodings(text))


def _find_decodings(text: str) -> tuple[str, ...]:
    """Return the text, followed by every text that common decoders produce from it.

    Unlike `find_decodings`, this does not use the cache.
    """
    found = latest = {text: None}
    for _ in range(_DEPTH):
        latest = {
            inner: None
            for one in latest
            for inner in _inner(one)
            if inner.strip() and inner not in found
        }
        if not latest or len(found) > _MOST_FORMS:
            break
        found = found | latest
    return tuple(found)


@lru_cache(maxsize=4_096)
def _cached_decodings(text: str) -> tuple[str, ...]:
    return _find_decodings(text)


def decode_numbers(numbers: list[int]) -> Iterator[str]:
    """Yield the text that a list of numbers forms if they are bytes or code points."""
    if len(numbers) > 5 and all(0 <= number < 256 for number in numbers):
        yield from _find_texts(bytes(numbers))
    elif len(numbers) > 5 and all(0 <= number < 0x110000 for number in numbers):
        yield "".join(map(chr, numbers))


def _inner(text: str) -> Iterator[str]:
    """Yield the texts that decoders produce from a text in one step.

    The texts that are yielded may themselves be encoded; they are not decoded again here.
    """
    text = text[:_LONGEST_INNER]
    yield from _unescape(text)
    for run in filter(_NO_WORD.search, _RUN.findall(text)):
        yield from _decode_base64(run)
    whole = "".join(text.split())
    yield from _decode_parts(text, whole)
    for pairs in _HEX_PAIRS.findall(text):
        digits = re.findall(r"[\da-f]{2}", re.sub("(?i)0x", "", pairs.lower()))
        yield from _find_texts(bytes.fromhex("".join(digits)))
    for decode in (_base32, base64.b85decode, _ascii85, _z85):
        with suppress(ValueError):
            yield from _find_texts(decode(whole.encode("ascii")))
    for run in filter(_NO_WORD.search, _BASE32.findall(text)):
        with suppress(ValueError):
            yield from _find_texts(_base32(run.encode()))
    listed = "".join(_LISTED.sub("", text).split())
    if listed != whole and len(listed) >= _SHORTEST_RUN and _RUN_ALONE.fullmatch(listed):
        yield from _decode_base64(listed) if _NO_WORD.search(listed) else ()
    yield from _decode_digits(text)
    if text.startswith("begin "):
        yield from _decode_uuencoded(text)


def _decode_parts(text: str, whole: str) -> Iterator[str]:
    """Yield the texts that result from decoding a text, and parts of it, as base64.

    The whole text is decoded, and also its lines and its last part. Characters that do not belong
    to base64 are ignored. `whole` is the text without spaces.
    """
    lines = [line.strip() for line in text.splitlines()]
    parts = (
        whole,
        "".join(filter(_RUN_ALONE.fullmatch, lines)),
        text.rpartition("\n\n")[2],
        text.rpartition(":")[2],
    )
    for others in (r"[^A-Za-z\d+/_=-]", r"[^A-Za-z\d+/]"):
        for squeezed in dict.fromkeys(re.sub(others, "", part) for part in parts):
            if len(squeezed) >= _SHORTEST_RUN and _NO_WORD.search(squeezed):
                yield from _decode_base64(squeezed)


def _decode_uuencoded(text: str) -> Iterator[str]:
    """Yield the text that `uuencode` has encoded, if the given text is such an output."""
    with suppress(ValueError):  # also binascii.Error
        lines = [line for line in text.splitlines()[1:] if line != "end"]
        yield from _find_texts(b"".join(map(binascii.a2b_uu, lines)))


def _unescape(text: str) -> Iterator[str]:
    """Yield the text with its escapes decoded, once for each kind of escape."""
    unescaped = _ESCAPE.sub(lambda match: chr(int(match[match.lastindex or 0], 16)), text)
    yield from (unquote(text), unquote(text.replace("+", " ")), html.unescape(text), unescaped)
    yield _UNICODE_PERCENT.sub(lambda match: chr(int(match[1], 16)), text)
    yield _NAMED.sub(_by_its_name, text)
    yield _MAIL_WORD.sub(_mail_word, text)
    yield _ADJACENT.sub("", _COMMENT.sub("", text))
    yield _CARET.sub("", text)
    if ":" not in text:
        yield _LISTED_TEXTS.sub("", text)
    yield _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)
    joined = _CONTINUED.sub("", text)
    yield from (
        joined,
        _ADJACENT.sub("", joined),
        _FOLDED.sub(" ", joined),
        _FOLDED.sub("", joined),
    )
    if _MAIL_ESCAPES.search(text):
        yield from _find_texts(quopri.decodestring(text.encode(errors="surrogatepass")))
    if _UTF7.search(text):
        with suppress(ValueError):
            yield text.encode("ascii").decode("utf-7")
    if text.isascii():
        yield text.replace("\0", "")
        return
    tags = text.translate(_TAGS) if text.translate(_TAGS) != text else ""
    kept = (
        c
        for c in unicodedata.normalize("NFKC", tags or text)
        if unicodedata.category(c) not in ("Cf", "Mn")
    )
    yield "".join(kept).replace("\0", "")


def _by_its_name(match: re.Match[str]) -> str:
    with suppress(KeyError):
        return unicodedata.lookup(match[1])
    return match[0]


def _mail_word(match: re.Match[str]) -> str:
    """Return the decoded text of an encoded word in an e-mail header (RFC 2047)."""
    with suppress(ValueError):
        if match[1] in "qQ":
            return quopri.decodestring(match[2].replace("_", " ").encode()).decode("utf-8")
        return base64.b64decode(match[2] + "===").decode("utf-8")
    return match[0]


def _decode_base64(run: str) -> Iterator[str]:
    """Yield the texts that a series of characters encodes in base64 or hexadecimal."""
    bare = run.replace("-", "+").replace("_", "/").replace("=", "")
    with suppress(ValueError):
        yield from _find_texts(base64.b64decode(bare[: len(bare) - (len(bare) % 4 == 1)] + "==="))
    with suppress(ValueError):
        yield from _find_texts(bytes.fromhex(bare))


def _decode_digits(text: str) -> Iterator[str]:
    """Yield the texts whose bytes a text lists in decimal, octal or binary digits."""
    for run in _NUMBER_RUN.findall(text):
        digits = re.findall(r"\d+", run)
        yield from decode_numbers([int(one) for one in digits])
        if all(set(one) <= set("01234567") for one in digits):
            yield from decode_numbers([int(one, 8) for one in digits])
    if _BITS.fullmatch(text.strip()):
        bits = re.sub("[^01]", "", text)
        for width in (7, 8):
            yield from decode_numbers(
                [int(bits[at : at + width], 2) for at in range(0, len(bits), width)]
            )


def _base32(data: bytes) -> bytes:
    bare = data.rstrip(b"=")
    return base64.b32decode(bare + b"=" * (-len(bare) % 8), casefold=True)


def _ascii85(data: bytes) -> bytes:
    return base64.a85decode(data.removeprefix(b"<~").removesuffix(b"~>"))


_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


def _z85(data: bytes) -> bytes:
    """Decode a text in ZeroMQ's variant of base85."""
    if not set(data) <= set(_Z85):
        raise ValueError("another alphabet")
    return base64.b85decode(data.translate(bytes.maketrans(_Z85, _B85)))


# --- bytes

_CBOR_TEXT = 0x60
"""The byte before a text in CBOR, a binary format, is this number plus the text's length."""

_Decompress = Callable[[bytes], bytes]


def _find_texts(data: bytes) -> Iterator[str]:
    """Yield the texts that bytes contain.

    The bytes may be text in UTF-8 or UTF-16, a binary format that contains texts, or compressed.
    """
    if len(data) < 4:
        return
    for decompress in _DECOMPRESS:
        with suppress(ValueError, OSError, EOFError, zlib.error, lzma.LZMAError):
            if len(unpacked := decompress(data)) >= 4:
                yield from _plain_texts(unpacked)
    yield from _plain_texts(data)


def _plain_texts(data: bytes) -> Iterator[str]:
    """Yield the text in bytes that are not compressed.

    If the bytes are a binary format and not text as a whole, yield their readable parts.
    """
    for coding in ("utf-8", "utf-16-le", "utf-16-be"):
        with suppress(ValueError):
            inner = data.decode(coding)
            likely = coding == "utf-8" or inner.isascii() or inner[0] == "\ufeff"
            if likely and all(c.isprintable() or c.isspace() or c in "\ufeff\0" for c in inner):
                yield inner
                return
    # The texts within a binary format, one per line.
    printed = _PRINTED.sub(b"\n", data.replace(b"\0", b""))
    if sum(map(len, re.findall(rb"[A-Za-z]{4,}", printed))) * 3 >= len(data):
        yield b"\n".join(map(_without_length, printed.split(b"\n"))).decode("ascii")


def _without_length(text: bytes) -> bytes:
    """Return a text of the binary format CBOR without the character that encodes its length.

    This character comes before the text.
    """
    return text[1:] if text and text[0] - _CBOR_TEXT == len(text) - 1 else text


def _inflate(window: int) -> _Decompress:
    """Return a function that decompresses data with zlib.

    `window` is the argument of `zlib.decompressobj`.
    """

    def inflate(data: bytes) -> bytes:
        reader = zlib.decompressobj(window)
        unpacked = reader.decompress(data, _LONGEST_INNER)
        # Without a header, any data begins like compressed data.
        return unpacked if window > 0 or reader.eof else b""

    return inflate


def _bunzip(data: bytes) -> bytes:
    return bz2.BZ2Decompressor().decompress(data, _LONGEST_INNER)


def _unpack(data: bytes) -> bytes:
    return lzma.LZMADecompressor(memlimit=64 << 20).decompress(data, _LONGEST_INNER)


_DECOMPRESS: tuple[_Decompress, ...] = (_inflate(47), _inflate(-15), _bunzip, _unpack)
"""Decompressors, which are all tried. `_inflate(47)` expects the header of zlib or gzip,
`_inflate(-15)` none.
"""
