"""Finds secrets that have no name such as `password` before them.

They are in URLs, command lines, statements, Kubernetes manifests and messages with one-time codes.
"""

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
"""A text in quotes, also if it is part of another quoted text."""
_TEXT = r"""(?:"([^"\n]{4,500})"|'([^'\n]{4,500})'|([^\s"'`<>|;]{4,500}))"""
_IN_QUOTES = r"""(?:"([^"\n]{4,200})"|'([^'\n]{4,200})')"""
_LONGEST_MESSAGE = 1_000
"""Maximum length of a message with a sign-in code."""
_LOGIN_DISTANCE = 100
"""Maximum number of characters between a word such as `login` and `user / password`."""
_LONGEST_NAME = 40
"""Maximum length of a name before one of the patterns below, including a space."""
_LONG_SMALL = "\u0130"
"""The only letter whose lower case has more characters than the letter itself."""

# Most patterns begin with a plain character and look behind it only then, so that the search skips
# other characters quickly. Lower-case patterns are searched in a lower-case copy of the text.
_USERINFO = re.compile(
    r"""://([^\s/:@?#"'<>]{0,200}):([^\s/?#"'<>]{1,500})@ | ://([^\s/:@?#"'<>]{16,500})@""",
    re.VERBOSE,
)
_BOT = re.compile(r"/bot\d{6,12}:([\w-]{30,})")
_STEP = re.compile(
    r"""/(?:reset|invite|invites|invitation|magic|verify|confirm|activate|activation|token|tokens
    |auth|login|signin|share|unsubscribe|hook|hooks|webhook|webhooks|services|callback|bot|key|keys
    |s|password)[\w-]{0,20}(?:/[\w.-]{1,60}){0,3}?/([\w~.=-]{20,500})""",
    re.VERBOSE | re.IGNORECASE,
)
"""A path segment after one that announces a token, such as `/invite/…`."""
_QUERY = re.compile(
    r"[?&#](?:code|ticket|assertion|SAMLResponse|invite)=([\w.~%+/=-]{16,2000})", re.IGNORECASE
)
"""A parameter that a sign-in page returns to the application."""
_LOGIN_NAME = re.compile(
    r"\b(?:log.?in|user(?:.?name)?|account|access|credentials?|zugang(?:sdaten)?|identifiants?)"
    r"[ \t]?\Z"
)
_LOGIN = re.compile(
    r""":(?=[ \t]{0,4}[\w.@+-]{1,60}[ \t]{0,4}[/|][ \t]{0,4}([^\s/|,;<>"'`]{6,200})(?![^\s.,;)]))"""
)
_LOGIN_NEARBY = re.compile(
    r"\b(?:log.?in|basic[ -]auth|credentials?|zugangsdaten|identifiants?|creds)\b"
)
_LOGIN_PAIR = re.compile(
    r"""[\w@](?<![\w/.][\w@])[\w.@+-]{0,59}[ \t]/[ \t]"""
    r"""([^\s/|,;<>"'`]{6,200})(?=[ \t]*(?:-->|[\n"]|\Z))"""
)
_MAIL_PAIR = re.compile(r"@[\w-]{1,60}(?:\.[\w-]{1,30}){1,3}:([^\s/:,;<>\"'`]{8,100})(?!\S)")
"""A password in a list of accounts, as in `ann@shop.example:password`."""
_FILE_NAME = re.compile(r".+\.[a-z]\w{1,4}")
_COMMUNITY = re.compile(
    r"""[src](?<!\w[src])
    (?:(?<=s)nmp-server[ \t]+community | (?<=r)[ow]community6?
    | (?<=c)om2sec[ \t]+\S{1,40}[ \t]+\S{1,60})
    [ \t]+(\S{4,100})""",
    re.VERBOSE,
)
"""An SNMP community in the settings of a network device. It works as a password."""
_HOOK = re.compile(r"https?://[^\s\"'<>]{0,200}?hook[^\s\"'<>]{0,500}")
_ORACLE = re.compile(r"(?::thin:|sqlplus[ \t]+(?:-\w[ \t]+)?)[\w.$-]{1,100}/([^\s/@\"']{4,200})@")
_BEARER = re.compile(r"b(?<![\w-]b)(?:earer|asic)[ \t]{1,4}[\"']?([^\s\"'<>,;]{8,})")
_JOINED = re.compile(
    r"""["'](?:Bearer|Basic|Token)\s{0,4}["']\s{0,4}[+.&,]\s{0,4}["']([^"'\n]{6,500})["']""",
    re.IGNORECASE,
)
_USER_FLAG = re.compile(
    r"""-(?<!\S-)(?:u|-user|-userpwd|U|-proxy-user)[ =]{0,2}["']?"""
    r"""[^\s:"'/]{1,100}:([^\s"']{3,500})"""
)
_SHORT_FLAG = re.compile(rf"-(?<!\S-)[paw][ =]?{_TEXT}")
_PORT_OR_FILE = re.compile(r"[\d.:/-]+$|.*[/\\]")
"""An argument of `-p` or `-a` that is a port, an address or a file."""
_PIPED = re.compile(
    rf"(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?{_TEXT}[ \t]*\|[^\n|]{{0,120}}"
    r"(?:--password|stdin|sudo|passwd|login|gpg|cryptsetup|kinit)"
)
_NET = re.compile(
    r"""net(?<!\wnet)(?:\.exe)?[ \t]+
    (?:use[ \t]+[^\n]{0,60}\\\\\S{1,200}[ \t]+([^\s/"*]{4,200})[ \t]+/u
    | user[ \t]+\S{1,60}[ \t]+([^\s/*]{4,200}))""",
    re.VERBOSE,
)
_SIGN_IN_CALLS = ("login", "log_in", "auth", "credential", "sign", "connect")
_PAIR_NAME = re.compile(
    r"(?:login|log_in|auth|authenticate|credentials?|sign_?in|connect(?:ion)?)\w{0,20}\s?\Z"
)
_PAIR = re.compile(
    rf"""\((?=\s{{0,20}}(?:[\w.]{{1,60}}\s?,\s{{0,20}})?{_IN_QUOTES.replace("([", "(?:[")}"""
    rf"""\s?,\s{{0,20}}{_IN_QUOTES})"""
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


def find_nameless_secrets(text: str) -> Iterator[str]:
    """Yield the secrets of a text that are recognized by what surrounds them, without a name.

    For example, the password in `https://user:password@host`.
    """
    lower = text.replace(_LONG_SMALL, "I").lower()
    yield from _find_in_addresses(text, lower)
    yield from _find_in_commands(text, lower)
    yield from _find_in_statements(text, lower)
    if len(text) <= _LONGEST_MESSAGE and _SIGN_IN.search(lower) is not None:
        yield from (found[1] or found[2] for found in _CODE.finditer(text))


def _find_in_addresses(text: str, lower: str) -> Iterator[str]:
    """Yield the passwords and tokens in the URLs and connection strings of a text.

    `lower` is the text in lower case.
    """
    if ":thin:" in lower or "sqlplus" in lower:
        yield from _matches(_ORACLE, text, lower)
    if "=" in text:
        returned = (found[1] for found in _QUERY.finditer(text))
        for value in filter(looks_random, returned):
            yield from iter_url_forms(value)
    if "://" not in text:
        return
    yield from _find_in_userinfo(text)
    yield from (found[1] for found in _BOT.finditer(text))
    yield from (found[1] for found in _STEP.finditer(text) if looks_random(found[1]))
    if "hook" in lower:
        yield from _find_in_webhooks(text, lower)


def _find_in_userinfo(text: str) -> Iterator[str]:
    """Yield tokens and passwords before the host of a URL, as in `https://user:password@host`."""
    for found in _USERINFO.finditer(text):
        user = found[1] or found[3]
        password = found[2]
        if user and looks_random(user):
            yield user
        if password and not _is_stand_in(password):
            yield from iter_url_forms(password)


def _is_stand_in(password: str) -> bool:
    """Return True if the text at the position of a password is no real password.

    It is a placeholder such as a template variable, or a word such as `password` in an example.
    """
    is_name = password.isalpha() and secret_kind(password) is not None
    return is_name or PLACEHOLDER.search(password) is not None


def _find_in_webhooks(text: str, lower: str) -> Iterator[str]:
    """Yield the secrets in webhook URLs: path segments and parameters that are not words."""
    for url in _matches(_HOOK, text, lower):
        path = url.partition("://")[2].partition("/")[2]
        steps = re.split(r"[/?&=@#]", path)
        yield from (step for step in steps if len(step) >= SHORTEST and is_not_word(step))


def _find_in_commands(text: str, lower: str) -> Iterator[str]:
    """Yield the secrets in command lines that have no name, or only a one-letter option (`-p`)."""
    if " -" in text or text.startswith("-"):
        passwords = (found[1] for found in _USER_FLAG.finditer(text))
        yield from (value for value in passwords if not value.startswith("$"))
        yield from (found[1] for found in _PASSIN.finditer(text))
        yield from filter(_is_password_argument, _matches(_SHORT_FLAG, text, text))
    if "|" in text and ("echo" in lower or "printf" in lower):
        yield from filter(is_not_word, _matches(_PIPED, text, text))
    if "net use" in lower or "net.exe" in lower:
        yield from filter(is_not_word, _matches(_NET, text, lower))


def _is_password_argument(value: str) -> bool:
    """Return True if the argument of `-p`, `-a` or `-w` is a password, and not a port or a file."""
    return is_not_word(value) and not _PORT_OR_FILE.match(value)


def _find_in_statements(text: str, lower: str) -> Iterator[str]:
    """Yield the secrets in headers, function calls, SQL, PowerShell and Kubernetes manifests.

    Only secrets to which the text gives no name are found. `lower` is the text in lower case.
    """
    if "bearer" in lower or "basic" in lower:
        yield from _find_bearer_tokens(text, lower)
    if any(word in lower for word in _SIGN_IN_CALLS):
        yield from filter(is_not_word, _behind(_PAIR_NAME, _PAIR, text, lower))
    for word, pattern in (("securestring", _SECURE), ("identified", _IDENTIFIED)):
        if word in lower:
            values = _matches(pattern, text, lower)
            yield from (value for value in values if not _is_stand_in(value))
    if "{s" in lower:
        yield from _matches(_STORED, text, text)
    if ":" in text:
        yield from _find_logins(text, lower)
    if " / " in text:
        yield from _find_logins_nearby(text, lower)
    if "community" in lower or "com2sec" in lower:
        yield from filter(is_not_word, _matches(_COMMUNITY, text, text))
    if "insert" in lower:
        yield from _find_inserted_values(text)
    if _MANIFEST.search(text) is not None:
        yield from _find_in_manifest(text)


def _find_bearer_tokens(text: str, lower: str) -> Iterator[str]:
    """Yield the credentials that follow `Bearer` or `Basic`, as in an `Authorization` header."""
    bearers = (value.rstrip(TAIL) for value in _matches(_BEARER, text, lower))
    yield from (value for value in bearers if is_not_word(value) and not _is_stand_in(value))
    yield from filter(is_not_word, _matches(_JOINED, text, text))


def _find_logins(text: str, lower: str) -> Iterator[str]:
    """Yield the passwords of a `.pgpass` file, and those written as `login: user / password`."""
    yield from (found[1] for found in _PGPASS.finditer(text))
    logins = (value.rstrip(TAIL) for value in _behind(_LOGIN_NAME, _LOGIN, text, lower))
    yield from filter(is_not_word, logins)
    if "@" in text:
        pairs = (found[1] for found in _MAIL_PAIR.finditer(text))
        yield from (one for one in pairs if is_not_word(one) and not _FILE_NAME.fullmatch(one))


def _find_logins_nearby(text: str, lower: str) -> Iterator[str]:
    """Yield the passwords written as `user / password` shortly after a word such as `login`."""
    for found in _LOGIN_PAIR.finditer(text):
        before = lower[max(0, found.start() - _LOGIN_DISTANCE) : found.start()]
        if _LOGIN_NEARBY.search(before) is not None and is_not_word(found[1]):
            yield found[1]


def _behind(name: re.Pattern[str], rest: re.Pattern[str], text: str, lower: str) -> Iterator[str]:
    """Yield the value of each match of `rest` that directly follows a match of `name`.

    `rest` is searched first, because it has fewer matches than `name`.
    """
    done = 0
    for found in rest.finditer(text):
        start = found.start()
        begin = max(done, start - _LONGEST_NAME)
        if start >= done and name.search(lower, begin, start) is not None:
            done = found.end(found.lastindex or 0)
            yield found[found.lastindex or 0]


def _matches(pattern: re.Pattern[str], text: str, searched: str) -> Iterator[str]:
    """Yield the text that a pattern matches in `searched`, as it is spelled in `text`.

    `searched` is `text` or its lower-case copy. If the pattern has a group, only the text of the
    group is yielded.
    """
    for found in pattern.finditer(searched):
        yield text[slice(*found.span(found.lastindex or 0))]


def _find_inserted_values(text: str) -> Iterator[str]:
    """Yield the values that an SQL `INSERT` writes into columns with the name of a secret."""
    for found in _INSERT.finditer(text):
        kinds = [kind_behind_name(name.strip(' \t\n`"[]')) for name in found[1].split(",")]
        at = found.end()
        while any(kinds) and (row := _ROW.match(text, at)) is not None:
            cells = (cell[1] or cell[2] or "" for cell in _CELL.finditer(row[1]))
            for kind, cell in zip(kinds, cells, strict=False):
                if kind is not None:
                    yield from iter_if_secret(cell, kind, "assigned", quoted=True)
            at = row.end()


def _find_in_manifest(text: str) -> Iterator[str]:
    """Yield all values of a Kubernetes Secret, whatever their names."""
    for block in _DATA.finditer(text):
        for line in block[1].splitlines():
            entry = _ENTRY.match(line)
            value = entry[1] if entry else line.strip()
            yield from (part for part in (value, value.partition("=")[2]) if len(part) >= SHORTEST)
