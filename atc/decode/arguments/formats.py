"""JSON Schema's formats as regular expressions: what matches has the format; most that has it and is short matches."""

from __future__ import annotations

from functools import cache

from atc.regex.parse import parse
from atc.regex.tree import Tree

_YEAR = r"(?:19|20|21)[0-9]{2}|1[0-8][0-9]{2}|2[2-9][0-9]{2}"
_LEAP = r"(?:1[0-9]|2[0-9])(?:0[48]|[2468][048]|[13579][26])|(?:12|16|20|24|28)00"
_DATE = (
    rf"(?:(?:{_YEAR})-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    rf"|(?:{_LEAP})-02-29)"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL = r"[A-Za-z0-9]{1,20}(?:-[A-Za-z0-9]{1,20}){0,2}"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,4}}"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_HEX = r"[0-9A-Fa-f]{1,4}"
_SEGMENT = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2}){0,60}"
_PATH = rf"(?:/{_SEGMENT}){{0,8}}"
_QUERY = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2}){0,120}"
_NAME = r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-F]{2}){1,60}"
_REST = rf"{_PATH}(?:\?{_QUERY})?(?:#{_QUERY})?"
_URI = (
    rf"[A-Za-z][A-Za-z0-9+.-]{{1,14}}:(?://(?:{_NAME}@)?{_HOST}(?::[0-9]{{1,5}})?{_REST}"
    rf"|(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{{2}}){{1,120}}(?:\?{_QUERY})?)"
)
_EMAIL = rf"[A-Za-z0-9_+-]{{1,20}}(?:\.[A-Za-z0-9_+-]{{1,20}}){{0,2}}@{_LABEL}(?:\.{_LABEL}){{0,3}}\.[A-Za-z]{{2,10}}"
_DURATION = (
    r"P(?:[0-9]{1,4}W|(?:[0-9]{1,4}Y(?:[0-9]{1,4}M(?:[0-9]{1,4}D)?)?|[0-9]{1,4}M(?:[0-9]{1,4}D)?|[0-9]{1,4}D)"
    r"(?:T(?:[0-9]{1,4}H(?:[0-9]{1,4}M(?:[0-9]{1,4}S)?)?|[0-9]{1,4}M(?:[0-9]{1,4}S)?|[0-9]{1,4}S))?"
    r"|T(?:[0-9]{1,4}H(?:[0-9]{1,4}M(?:[0-9]{1,4}S)?)?|[0-9]{1,4}M(?:[0-9]{1,4}S)?|[0-9]{1,4}S))"
)

_RANGE = r"(?:a-z|A-Z|0-9|[A-Za-z0-9_ ,.]|\\[dws])"
_ATOM = rf"(?:[A-Za-z0-9 _,:;=@!<>/-]|\.|\\[dwsDWS.]|\[\^?{_RANGE}{{1,8}}\])"
_REGEX = rf"\^?(?:{_ATOM}[*+?]?|\({_ATOM}{{1,8}}(?:\|{_ATOM}{{1,8}}){{0,3}}\)[*+?]?){{0,30}}\$?"

_EXPRESSIONS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": _DURATION,
    "email": _EMAIL,
    "idn-email": _EMAIL,
    "hostname": _HOST,
    "idn-hostname": _HOST,
    "ipv4": rf"{_BYTE}(?:\.{_BYTE}){{3}}",
    "ipv6": rf"(?:{_HEX}:){{7}}{_HEX}|(?:{_HEX}:){{1,3}}(?::{_HEX}){{1,4}}|::(?:{_HEX}:){{0,5}}{_HEX}|::",
    "uri": _URI,
    "iri": _URI,
    "uri-reference": rf"{_URI}|/[A-Za-z0-9._~-]{{1,60}}{_REST}|(?:#{_QUERY})",
    "iri-reference": rf"{_URI}|/[A-Za-z0-9._~-]{{1,60}}{_REST}|(?:#{_QUERY})",
    "uri-template": r"[A-Za-z0-9._~:/?&=-]{0,60}(?:\{[A-Za-z_][A-Za-z0-9_]{0,20}\}[A-Za-z0-9._~:/?&=-]{0,40}){0,4}",
    "uuid": r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",
    "json-pointer": r"(?:/(?:[^/~\x00-\x1f]|~[01]){0,40}){0,6}",
    "relative-json-pointer": r"(?:0|[1-9][0-9]{0,2})(?:#|(?:/(?:[^/~\x00-\x1f]|~[01]){0,40}){0,6})",
    "regex": _REGEX,
}

FORMATS = frozenset(_EXPRESSIONS)
"""Formats that bind. What another one means nobody checks: it is a remark."""


@cache
def format_tree(name: str) -> Tree:
    """What the strings of this format look like."""
    return parse(_EXPRESSIONS[name])
