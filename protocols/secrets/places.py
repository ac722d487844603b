"""Secrets that no name stands before: in addresses, command lines, statements, manifests and one-time codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from protocols.secrets.names import looks_random, secret_kind
from protocols.secrets.values import (
    PLACEHOLDER,
    SHORTEST,
    TAIL,
    is_not_word,
    iter_if_secret,
    iter_url_forms,
    kind_behind_name,
)

QUOTED = (
    r"""(?:\\*"(?P<q1>(?:[^"\\\n]|\\[^"\n]){1,600})\\*"|\\*'(?P<q2>(?:[^'\\\n]|\\.){1,600})\\*'"""
    r"""|`(?P<q3>[^`\n]{1,600})`)"""
)
"""A text in quotes, which may stand within another text in quotes."""
_TEXT = r"""(?:"([^"\n]{4,500})"|'([^'\n]{4,500})'|([^\s"'`<>|;]{4,500}))"""
_IN_QUOTES = r"""(?:"([^"\n]{4,200})"|'([^'\n]{4,200})')"""
_LONGEST_MESSAGE = 1_000
"""Characters of a text that may be a message with a code for signing in."""

_LONGEST_NAME = 40
"""Characters of a name before one of the patterns below, with a blank."""
_LONG_SMALL = "\u0130"
"""The one letter whose small form is longer than itself."""

# Most patterns begin with a plain character, so that all others are passed over quickly, and look behind it only then.
# Those that are spelled in small letters are searched in a copy of the text in small letters.
_USERINFO = re.compile(
    r"""://([^\s/:@?#"'<>]{0,200}):([^\s/?#"'<>]{1,500})@ | ://([^\s/:@?#"'<>]{16,500})@""",
    re.VERBOSE,
)
_BOT = re.compile(r"/bot\d{6,12}:([\w-]{30,})")
_STEP = re.compile(
    r"""/(?:reset|invite|invites|invitation|magic|verify|confirm|activate|activation|token|tokens|auth|login|signin
    |share|unsubscribe|hook|hooks|webhook|webhooks|services|callback|bot|key|keys|s|password)[\w-]{0,20}
    (?:/[\w.-]{1,60}){0,3}?/([\w~.=-]{20,500})""",
    re.VERBOSE | re.IGNORECASE,
)
_QUERY = re.compile(
    r"[?&#](?:code|ticket|assertion|SAMLResponse|invite)=([\w.~%+/=-]{16,2000})", re.IGNORECASE
)
"""What a person comes back with from a page for signing in."""
_LOGIN_NAME = re.compile(
    r"\b(?:log.?in|user(?:.?name)?|account|access|credentials?|zugang(?:sdaten)?|identifiants?)[ \t]?\Z"
)
_LOGIN = re.compile(
    r""":(?=[ \t]{0,4}[\w.@+-]{1,60}[ \t]{0,4}[/|][ \t]{0,4}([^\s/|,;<>"'`]{6,200})(?![^\s.,;)]))"""
)
_COMMUNITY = re.compile(
    r"""[src](?<!\w[src])
    (?:(?<=s)nmp-server[ \t]+community | (?<=r)[ow]community6? | (?<=c)om2sec[ \t]+\S{1,40}[ \t]+\S{1,60})
    [ \t]+(\S{4,100})""",
    re.VERBOSE,
)
"""A name by which devices are asked, as their settings write it: whoever knows it may ask."""
_HOOK = re.compile(r"https?://[^\s\"'<>]{0,200}?hook[^\s\"'<>]{0,500}")
_ORACLE = re.compile(r"(?::thin:|sqlplus[ \t]+(?:-\w[ \t]+)?)[\w.$-]{1,100}/([^\s/@\"']{4,200})@")
_BEARER = re.compile(r"b(?<![\w-]b)(?:earer|asic)[ \t]{1,4}[\"']?([^\s\"'<>,;]{8,})")
_JOINED = re.compile(
    r"""["'](?:Bearer|Basic|Token)\s{0,4}["']\s{0,4}[+.&,]\s{0,4}["']([^"'\n]{6,500})["']""",
    re.IGNORECASE,
)
_USER_FLAG = re.compile(
    r"""-(?<!\S-)(?:u|-user|-userpwd|U|-proxy-user)[ =]{0,2}["']?[^\s:"'/]{1,100}:([^\s"']{3,500})"""
)
_SHORT_FLAG = re.compile(rf"-(?<!\S-)[paw][ =]?{_TEXT}")
_PIPED = re.compile(
    rf"(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?{_TEXT}[ \t]*\|[^\n|]{{0,120}}"
    r"(?:--password|stdin|sudo|passwd|login|gpg|cryptsetup|kinit)"
)
_NET = re.compile(
    r"""net(?<!\wnet)(?:\.exe)?[ \t]+
    (?:use[ \t]+[^\n]{0,60}\\\\\S{1,200}[ \t]+([^\s/"*]{4,200})[ \t]+/u | user[ \t]+\S{1,60}[ \t]+([^\s/*]{4,200}))""",
    re.VERBOSE,
)
_PAIR_NAME = re.compile(
    r"(?:login|log_in|auth|authenticate|credentials?|sign_?in|connect(?:ion)?)\w{0,20}\s?\Z"
)
_PAIR = re.compile(
    rf"""\((?=\s{{0,20}}(?:[\w.]{{1,60}}\s?,\s{{0,20}})?{_IN_QUOTES.replace("([", "(?:[")}\s?,\s{{0,20}}{_IN_QUOTES})"""
)
_SECURE = re.compile(rf"securestring[ \t]{{1,4}}(?:-string[ \t]{{1,4}})?{QUOTED}")
_IDENTIFIED = re.compile(rf"identified[ \t]+by[ \t]+{QUOTED}")
_PASSIN = re.compile(r"-pass(?:in|out)?[ \t]+pass:(\S{4,200})")
_STORED = re.compile(r"\{S?SHA\d{0,3}\}[\w+/=]{20,200}")
_PGPASS = re.compile(
    r"(?m)^[\w.*-]{1,200}:(?:\d{2,5}|\*):[\w*-]{1,100}:[\w.*-]{1,100}:(\S{4,500})$"
)
_INSERT = re.compile(
    r"INSERT\s{1,9}INTO\s{1,9}[^()]{1,200}\(([^()]{1,1000})\)\s{0,9}VALUES\s{0,9}", re.IGNORECASE
)
_ROW = re.compile(r"\(((?:'(?:[^'\\]|\\.)*'|[^()'])*)\)\s{0,9},?\s{0,9}")
_CELL = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|([^',]*))\s*(?:,|$)")
_MANIFEST = re.compile(r"(?m)^[ \t]*[\"']?kind[\"']?:[ \t]*[\"']?Secret\b")
_DATA = re.compile(r"(?m)^[ \t]*(?:stringData|data):[ \t]*\n((?:[ \t]+\S.*\n?|[ \t]*\n)+)")
_ENTRY = re.compile(r"[ \t]+[\w.-]+:[ \t]*[\"']?([^\s\"'|>][^\s\"']*)")
_SIGN_IN = re.compile(
    r"verif|log.?in|sign.?in|one.?time|authent|security|2fa|two.factor|otp|passcode|password"
)
_CODE = re.compile(
    r"""\b(?:code|passcode|otp|pin)\b[^\d\n]{0,40}?\b(?:[A-Z]-)?(\d{3}[ -]?\d{3}|\d{4,8})\b
    | \b(\d{3}[ -]?\d{3}|\d{4,8})\b[^\d\n.]{0,30}\b(?:code|passcode|otp|pin)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def find_placed_secrets(text: str) -> Iterator[str]:
    """Yield the secrets of a text that stand at such places."""
    lower = text.replace(_LONG_SMALL, "I").lower()
    yield from _find_in_addresses(text, lower)
    yield from _find_in_commands(text, lower)
    yield from _find_in_statements(text, lower)
    if len(text) <= _LONGEST_MESSAGE and _SIGN_IN.search(lower) is not None:
        yield from (found[1] or found[2] for found in _CODE.finditer(text))


def _find_in_addresses(text: str, lower: str) -> Iterator[str]:
    """Yield what stands in URLs: passwords of users, tokens among the steps of a path."""
    if ":thin:" in lower or "sqlplus" in lower:
        yield from (_in_text(text, found) for found in _ORACLE.finditer(lower))
    if "=" in text:
        yield from (
            value
            for found in _QUERY.finditer(text)
            if looks_random(found[1])
            for value in iter_url_forms(found[1])
        )
    if "://" not in text:
        return
    for found in _USERINFO.finditer(text):
        user = found[1] or found[3]
        secret = found[2]
        if user and looks_random(user):
            yield user
        if (
            secret
            and not (secret.isalpha() and secret_kind(secret) is not None)
            and not PLACEHOLDER.search(secret)
        ):
            yield from iter_url_forms(secret)
    yield from (found[1] for found in _BOT.finditer(text))
    yield from (found[1] for found in _STEP.finditer(text) if looks_random(found[1]))
    for found in _HOOK.finditer(lower) if "hook" in lower else ():
        steps = re.split(r"[/?&=@#]", _in_text(text, found).partition("://")[2].partition("/")[2])
        yield from (step for step in steps if len(step) >= SHORTEST and is_not_word(step))


def _find_in_commands(text: str, lower: str) -> Iterator[str]:
    """Yield what a command line gives to a program without a name, or with a short one."""
    patterns = []
    if " -" in text or text.startswith("-"):
        yield from (found[1] for found in _USER_FLAG.finditer(text))
        yield from (found[1] for found in _PASSIN.finditer(text))
        patterns.append(_SHORT_FLAG)
    if "|" in text and ("echo" in lower or "printf" in lower):
        patterns.append(_PIPED)
    if "net use" in lower or "net.exe" in lower:
        patterns.append(_NET)
    for pattern in patterns:
        for found in pattern.finditer(lower if pattern is _NET else text):
            value = _in_text(text, found)
            if is_not_word(value) and not (
                pattern is _SHORT_FLAG and re.match(r"[\d.:/-]+$|.*[/\\]", value)
            ):
                yield value


def _find_in_statements(text: str, lower: str) -> Iterator[str]:
    """Yield what headers, calls, SQL, PowerShell and Kubernetes write without an assignment."""
    if "bearer" in lower or "basic" in lower:
        bearers = (_in_text(text, found).rstrip(TAIL) for found in _BEARER.finditer(lower))
        yield from filter(is_not_word, bearers)
        yield from (found[1] for found in _JOINED.finditer(text) if is_not_word(found[1]))
    if any(word in lower for word in ("login", "log_in", "auth", "credential", "sign", "connect")):
        pairs = (_in_text(text, found) for found in _behind(_PAIR_NAME, _PAIR, text, lower))
        yield from filter(is_not_word, pairs)
    if "securestring" in lower:
        yield from (_in_text(text, found) for found in _SECURE.finditer(lower))
    if "identified" in lower:
        yield from (_in_text(text, found) for found in _IDENTIFIED.finditer(lower))
    if "{s" in lower:
        yield from (found[0] for found in _STORED.finditer(text))
    if ":" in text:
        yield from (found[1] for found in _PGPASS.finditer(text))
        logins = (
            _in_text(text, found).rstrip(TAIL)
            for found in _behind(_LOGIN_NAME, _LOGIN, text, lower)
        )
        yield from filter(is_not_word, logins)
    if "community" in lower or "com2sec" in lower:
        yield from (found[1] for found in _COMMUNITY.finditer(text) if is_not_word(found[1]))
    if "insert" in lower:
        yield from _find_inserted_values(text)
    if _MANIFEST.search(text) is not None:
        yield from _find_in_manifest(text)


def _behind(
    name: re.Pattern[str], rest: re.Pattern[str], text: str, lower: str
) -> Iterator[re.Match[str]]:
    """Yield each match of `rest` that stands behind a name. Names are looked for only there."""
    done = 0
    for found in rest.finditer(text):
        start = found.start()
        if (
            start >= done
            and name.search(lower, max(done, start - _LONGEST_NAME), start) is not None
        ):
            done = found.end(found.lastindex or 0)
            yield found


def _in_text(text: str, found: re.Match[str]) -> str:
    """Return what a match in a text, or in its copy in small letters, has found: its group, or all of it."""
    return text[slice(*found.span(found.lastindex or 0))]


def _find_inserted_values(text: str) -> Iterator[str]:
    """Yield what an `INSERT` puts into columns that are named as secrets."""
    for found in _INSERT.finditer(text):
        kinds = [kind_behind_name(name.strip(' \t\n`"[]')) for name in found[1].split(",")]
        at = found.end()
        while any(kinds) and (row := _ROW.match(text, at)) is not None:
            cells = (cell[1] or cell[2] or "" for cell in _CELL.finditer(row[1]))
            for kind, cell in zip(kinds, cells, strict=False):
                yield from (
                    iter_if_secret(cell, kind, "said", quoted=True) if kind is not None else ()
                )
            at = row.end()


def _find_in_manifest(text: str) -> Iterator[str]:
    """Yield all that a Kubernetes Secret holds, whatever its names."""
    for block in _DATA.finditer(text):
        for line in block[1].splitlines():
            entry = _ENTRY.match(line)
            value = entry[1] if entry else line.strip()
            yield from (part for part in (value, value.partition("=")[2]) if len(part) >= SHORTEST)
