"""Decides whether a text that is near the name of a secret, such as `password`, is the secret.

It may also be an ordinary word, a label, a reference to the secret, or code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import unquote_plus

from protocols.naming import split_words
from protocols.secrets.names import Kind, is_secret, looks_random, secret_kind

Connection = Literal["assigned", "marked", "near"]
"""How clearly a text connects a name with a value. *assigned*: with `=`, in quotes, or in markup.
*marked*: with a colon, in a table, or by an option of a command. *near*: they are merely close to
each other, as in a sentence.
"""

SHORTEST = 6
"""Minimum length of a secret that only its name reveals. In quotes, it may be shorter."""
_SHORTEST_QUOTED = 4
_SHORTEST_NEAR = 8
_STATES = split_words(
    "accepted active added any approved available bad both cached changed checked complete created"
    " deleted denied disabled empty enabled encrypted enter exists expired failed false field"
    " forgotten found generated given granted here hidden in incorrect invalid issued it label"
    " lambda locked lost mandatory masked match matched matches missing must new no none not null"
    " number object of off ok old omitted on optional or outdated pending present protected"
    " provided recommended redacted refreshed regenerated rejected renewed required reset revoked"
    " rotated saved see sent set shared stored str string success successful supported temporary"
    " text the this to true type undefined unknown unset unused updated used valid validated"
    " varchar verified weak wrong yes your"
)
"""Words that describe a secret, as in `password: expired`, and are not secrets themselves."""
_REFERENCE = re.compile(
    r"[$%@]?[{(<\[]|[$%][A-Za-z_({]|&[a-z]"
    r"|(?:os|process|env|settings|config|self|this|request|req|data|args|options|params|response"
    r"|user|var|vault|secrets|ctx|context|event|op|ref)[.:\[]"
    r"|\.\.\.|…|/(?:run|etc|var|home|usr|tmp|mnt)/|(?:\.{1,2}|~)/"
    r"|(?:[Gg]et|[Rr]ead|[Nn]ew|ConvertTo)-[A-Z][a-z]"
    r"|!(?:env|env_var|file|getatt|include|ref|secret|sub|vault)\Z"
)
"""The beginning of a value that only refers to the secret, such as a variable, a file, a command of
PowerShell or a tag of YAML.
"""
_EXPRESSION = re.compile(r"[A-Za-z_][\w.]*[(\[]|[A-Za-z_]+\.[A-Za-z_][A-Za-z_.]*$")
_CAMEL = re.compile(r"_*[A-Z]?[a-z]+(?:[A-Z]+[a-z]{2,})*|_*(?:[A-Z]+[a-z]{2,})+")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
WORD = re.compile(r"[A-Za-z]?[a-z]*(?:['’-][a-z]+)*|[A-Z]+")
PLACEHOLDER = re.compile(
    r"\{[\w.\[\]\"']*\}|[$#]\{|%\(?[sd]\b|<[\w -]+>|^(?:sha\d+|md5)[:-]"
    r"|(?:\b|_)your[_-](?:\w+[_-])+here\b",
    re.IGNORECASE,
)
"""Matches texts that are no secrets: template variables, and fingerprints of keys."""
_COUNTED = re.compile(
    r"[A-Za-z]{2,12}[-_/.#]?\d{1,3}|[A-Za-z]+/\d+(?:\.\d+)*|v?\d+(?:\.\d+)+\S{0,4}"
    r"|\d+[a-z]{1,8}|[\d:TZ.+-]+"
)
"""Matches texts that are no secrets: words with a number (`node-12`), versions, amounts, times."""
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of languages that are written without spaces between words."""
TAIL = ".,;:!?)]}>*`"
"""Punctuation that may follow a value without being part of it."""
SIGNED = frozenset(
    {"sig", "signature", "x-amz-security-token", "x-amz-signature", "x-goog-signature"}
)
"""Names of URL parameters that contain a signature."""


def kind_behind_name(name: str) -> Kind | None:
    """Return the kind of secret that may follow this name in a text, or None.

    The name consists of one or two words of the text, such as `api key`.
    """
    if name.rsplit(" ", 1)[-1].lower() in SIGNED:
        return "random"
    return secret_kind(name.replace("$", "_"))


def iter_url_forms(value: str) -> Iterator[str]:
    """Yield a value as it is, and URL-decoded if it may be encoded."""
    yield value
    if "%" in value or "+" in value:
        yield unquote_plus(value)


def iter_if_secret(
    value: str, kind: Kind, connection: Connection, *, quoted: bool
) -> Iterator[str]:
    """Yield `value` if it is a secret, else nothing.

    `kind` is the kind of secret that the value's name announces, and `connection` says how clearly
    the text connects the name with the value.
    """
    if _is_stand_in(value):
        return
    if kind == "number":
        if is_secret("pin", value):
            yield value
        return
    is_near = connection == "near"
    if kind == "random" and not (looks_random(value) or (not is_near and _is_key(value))):
        return
    if is_near and (len(value) < _SHORTEST_NEAR or not is_not_word(value)):
        return
    if _is_password(value, quoted=quoted):
        yield value


def _is_password(value: str, *, quoted: bool) -> bool:
    """Return True if a value can be the secret that its name, such as `password`, announces.

    `quoted` is True if it is in quotes.
    """
    if PLACEHOLDER.search(value) or _is_name(value) or not is_secret("password", value):
        return False
    if quoted:
        return len(value) >= _SHORTEST_QUOTED and not is_label(value)
    return len(value) >= SHORTEST and not _EXPRESSION.match(value)


def _is_stand_in(value: str) -> bool:
    """Return True if a text near the name of a secret cannot be the secret.

    It is a word such as `expired`, a reference such as `$TOKEN`, or only punctuation.
    """
    if not any(map(str.isalnum, value)):
        return True
    return value.lower() in _STATES or _REFERENCE.match(value) is not None


def _is_name(value: str) -> bool:
    """Return True if a value is itself the name of a secret, as in `--token API_TOKEN`."""
    is_word = value.isalpha() or _CONSTANT.fullmatch(value) is not None
    return is_word and secret_kind(value) is not None


def is_label(value: str) -> bool:
    """Return True if a text is meant for people, such as a label or a hint.

    Several words in lower case are usually not a label, since they may be a passphrase.
    """
    parts = value.split()
    if not all(map(str.isalpha, re.sub(r"[-'’.,;:!?…()]", "", value).split())):
        return len(parts) > 1 and any(part.strip(TAIL).lower() in _STATES for part in parts)
    return (
        _is_name(value)
        or value[:1].isupper()
        or not value.isascii()
        or any(part.strip(TAIL).lower() in _STATES for part in parts)
    )


def _is_key(value: str) -> bool:
    """Return True if a text contains a long word in which letters and digits alternate.

    API keys often have such a word.
    """
    parts = re.findall(r"\w{12,}", value)
    return any(len(re.findall(r"[A-Za-z]+|\d+", part)) > 2 for part in parts)


def is_random(value: str) -> bool:
    """Return True if a text looks random and is not the name of a class or function."""
    return looks_random(value) and not _CAMEL.fullmatch(value)


def is_not_word(value: str) -> bool:
    """Return True if a text is not a word, a number, or a name or path that consists of words."""
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    if not letters or len(value) < SHORTEST or _UNSPACED.match(value):
        return False
    if digits:
        return _COUNTED.fullmatch(value) is None
    if _CAMEL.fullmatch(value):
        return False
    return (
        any(c in value for c in "!@#$%^&*+~")
        or re.search(r"[a-z][A-Z]+[a-z]+[A-Z]", value) is not None
    )
