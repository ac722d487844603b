"""Formats in words: `YYYY-MM-DD`, `%Y-%m-%d`, `a valid email`, `ISO 8601`, as JSON Schema's format or as a pattern."""

from __future__ import annotations

import re

from probing.hint import Hint

_PARTS = {
    "%Y": r"\d{4}", "%y": r"\d{2}", "%m": r"\d{2}", "%d": r"\d{2}", "%H": r"\d{2}", "%I": r"\d{2}", "%M": r"\d{2}",
    "%S": r"\d{2}", "%f": r"\d{1,6}", "%j": r"\d{3}", "%U": r"\d{2}", "%W": r"\d{2}", "%V": r"\d{2}", "%G": r"\d{4}",
    "%u": r"\d", "%w": r"\d", "%p": "[AP]M", "%b": "[A-Z][a-z]{2}", "%B": "[A-Z][a-z]+", "%a": "[A-Z][a-z]{2}",
    "%A": "[A-Z][a-z]+", "%z": r"(?:Z|[+-]\d{2}:?\d{2})", "%Z": "[A-Za-z]+", "%%": "%",
    "%F": r"\d{4}-\d{2}-\d{2}", "%T": r"\d{2}:\d{2}:\d{2}",
}  # fmt: skip
_STRFTIME = re.compile(r"%[YymdHIMSfjUWVGuwpbBaAzZFT](?:[-/.,:T Z_]{0,3}%[YymdHIMSfjUWVGuwpbBaAzZFT]){0,11}Z?")
_TEMPLATE = re.compile(
    r"(?<![A-Za-z%\d])(?:Y{4}|y{4}|C{2}YY|D{2}|d{2}|M{2}|m{2}|H{2}|h{2})"
    r"(?:['T ]{0,3}[-/.:_]?['T ]{0,3}(?:Y{4}|y{4}|YY|yy|D{2}|d{2}|M{2,3}|m{2}|H{2}|h{2}|S{2}|s{2})){1,6}"
    r"(?:\.?(?:S{1,6}|s{1,6}|f{1,6}|Z))?(?:'?(?:Z|XXX|[+]HH:?MM|[+]hh:?mm)'?)?(?![A-Za-z])"
)
_UNIT = re.compile(r"[Yy]{2,4}|[Dd]{2}|M{2,3}|m{2}|[Hh]{2}|[Ss]{2}")
_ASKED = (
    r"(?:must|should|has to|have to|need|valid|invalid|not an?\b|expect|format|badly|correct|proper|enter|wrong"
    r"|require|be an?\b|in iso|be in)"
)
_RANGE = r"(?!\s*(?:range|interval|or (?:pass|missing|expired)|and |order|combination))"
_NAMED = (
    ((rf"\bdate-?times?\b{_RANGE}|\bdate[ -]time\b|\bdate and time\b|\brfc[ -]?3339\b(?! (?:encoded |compliant "
    rf"|full-?)?date\b)|(?<!unix )\btimestamp\b"), "date-time"),
    (rf"\bdates?\b(?! of\b){_RANGE}", "date"),
    (r"\buu?id\b(?<=uuid)|\bguid\b|\buuidv?\d\b", "uuid"),
    (rf"\be-?mail\b{_RANGE}", "email"),
    (r"\b(?:url|uri)s?\b", "uri"),
    (r"\bipv4\b", "ipv4"),
    (r"\bipv6\b", "ipv6"),
    (r"\bhostname\b", "hostname"),
)  # fmt: skip
_FORMATS = tuple((re.compile(words, re.IGNORECASE), name) for words, name in _NAMED)
_ASKS = re.compile(_ASKED, re.IGNORECASE)
_ISO = re.compile(r"\biso[ -]?(?:8601)?(?:[ -](?:date|format|string|extended))*\b|\bisoformat\b", re.IGNORECASE)
_EPOCH = re.compile(r"\b(?:unix|epoch|seconds since|milliseconds)\b", re.IGNORECASE)
JSON_FORMATS = frozenset({"date", "date-time", "time", "uuid", "email", "uri", "ipv4", "ipv6", "hostname", "duration"})


def read_format(text: str, argument: str = "") -> Hint | None:
    """The format or pattern that a sentence asks for, argument and text not filled in."""
    if found := _STRFTIME.search(text):
        return _of_strftime(found[0])
    template = _TEMPLATE.search(text)
    if template and (hint := _of_template(template[0])):
        return hint
    if _EPOCH.search(text) or not (_ASKS.search(text) or _ISO.search(text)):
        return None
    hits = [
        (match.start(), n)
        for n, (words, name) in enumerate(_FORMATS)
        if (match := words.search(text)) and (name.startswith("date") or not _in_row(text, match))
    ]
    if re.search(r"\bipv4\b", text, re.IGNORECASE) and re.search(r"\bipv6\b", text, re.IGNORECASE):
        return None
    if hits:
        return Hint(kind="format", format=_FORMATS[min(hits)[1]][1])
    if re.search(r"\biso[ -]?8601\b|\bisoformat\b|\biso format\b", text, re.IGNORECASE):
        return _iso(argument)
    return None


def _in_row(text: str, match: re.Match[str]) -> bool:
    """Whether a word is one of several that stand for values: `email or sms`."""
    after, before = text[match.end() : match.end() + 8], text[max(0, match.start() - 8) : match.start()]
    return bool(re.match(r"['\"]?\s*(?:,|\||/|or\b)", after) or re.search(r"(?:,|\||/|\bor)\s*['\"]?$", before))


def is_template(text: str) -> bool:
    """Whether a text stands for the values of a format: `YYYY-MM-DD`, `%H:%M`."""
    return bool(_STRFTIME.fullmatch(text) or _TEMPLATE.fullmatch(text))


def _iso(argument: str) -> Hint | None:
    name = argument.lower()
    if "date" in name or "day" in name:
        return Hint(kind="format", format="date-time" if "time" in name else "date")
    if "time" in name or name.endswith("_at"):
        return Hint(kind="format", format="date-time")
    return None


def _of_strftime(text: str) -> Hint:
    if text in ("%Y-%m-%d", "%F"):
        return Hint(kind="format", format="date")
    if re.fullmatch(r"(?:%Y-%m-%d|%F)T(?:%H:%M:%S|%T)(?:\.%f)?(?:%z|Z)", text):
        return Hint(kind="format", format="date-time")
    pieces = re.split(r"(%.)", text)
    return Hint(
        kind="pattern",
        pattern="^" + "".join(_PARTS.get(p) or re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", p) for p in pieces) + "$",
    )


def _of_template(text: str) -> Hint | None:
    plain = text.replace("'", "")
    shape, last, position = "", "", 0
    for unit in _UNIT.finditer(plain):
        shape += plain[position : unit.start()]
        letter = unit[0][0].lower()
        # Minutes and months share a letter; minutes follow hours.
        kind = {"y": "%Y" if len(unit[0]) == 4 else "%y", "d": "%d", "h": "%H", "s": "%S"}.get(letter, "%m")
        if letter == "m":
            kind = "%b" if len(unit[0]) == 3 else "%M" if last == "%H" else "%m"
        if kind in shape:
            return None
        shape, last, position = shape + kind, kind, unit.end()
    rest = plain[position:]
    if not ({"%Y", "%y"} & set(re.findall("%.", shape)) or shape.startswith("%H:%M")):
        return None
    if shape.startswith(("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")) and "T" in shape:
        return Hint(kind="format", format="date-time")
    return _of_strftime(shape + ("Z" if rest == "Z" else ""))
