"""Which of the texts that stand where a secret is expected are secrets, and which words, labels, references or code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import unquote_plus

from protocols.naming import split_words
from protocols.secrets.names import Kind, is_secret, looks_random, secret_kind

Bond = Literal["said", "shown", "near"]
"""How plainly a text connects a name with a value. *said*: by an assignment in quotes, or with `=`, or in markup.
*shown*: by a colon, a table, a flag. *near*: they stand beside each other, as in a sentence."""

SHORTEST = 6
"""Characters of a value from which it is a secret where the name alone says so; a quoted one may be shorter."""
_SHORTEST_NEAR = 8
_STATES = split_words(
    "accepted active added any approved available bad both cached changed checked complete created"
    " deleted denied disabled empty enabled encrypted enter exists expired failed false field forgotten"
    " found generated given granted here hidden in incorrect invalid issued it label lambda locked lost"
    " mandatory masked match matched matches missing must new no none not null number object of off ok old"
    " omitted on optional or outdated pending present protected provided recommended redacted refreshed"
    " regenerated rejected renewed required reset revoked rotated saved see sent set shared stored str"
    " string success successful supported temporary text the this to true type undefined unknown unset"
    " unused updated used valid validated varchar verified weak wrong yes your"
)
"""Words that tell of a secret, and are none."""
_REFERENCE = re.compile(
    r"[$%@]?[{(<\[]|[$%][A-Za-z_({]|&[a-z]|(?:os|process|env|settings|config|self|this|request|req|data|args|options|"
    r"params|response|user|var|vault|secrets|ctx|context|event|op|ref)[.:\[]|\.\.\.|…|/(?:run|etc|var|home|usr|tmp|mnt)/"
)
"""How a value begins that names where the secret is kept, and does not hold it."""
_EXPRESSION = re.compile(r"[A-Za-z_][\w.]*[(\[]|[A-Za-z_]+\.[A-Za-z_][A-Za-z_.]*$")
_CAMEL = re.compile(r"_*[A-Z]?[a-z]+(?:[A-Z]+[a-z]{2,})*|_*(?:[A-Z]+[a-z]{2,})+")
WORD = re.compile(r"[A-Za-z]?[a-z]*(?:['’-][a-z]+)*|[A-Z]+")
PLACEHOLDER = re.compile(
    r"\{[\w.\[\]\"']*\}|[$#]\{|%\(?[sd]\b|<[\w -]+>|^(?:sha\d+|md5)[:-]", re.IGNORECASE
)
"""What stands for a value that is put there later, and the fingerprint of a key, which is public."""
_COUNTED = re.compile(
    r"[A-Za-z]{2,12}[-_/.#]?\d{1,3}|[A-Za-z]+/\d+(?:\.\d+)*|v?\d+(?:\.\d+)+\S{0,4}|\d+[a-z]{1,8}|[\d:TZ.+-]+"
)
"""Names with a number, versions, quantities and times."""
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of languages that write sentences without spaces."""
TAIL = ".,;:!?)]}>*`"


SIGNED = frozenset(
    {"sig", "signature", "x-amz-security-token", "x-amz-signature", "x-goog-signature"}
)


def kind_behind_name(name: str) -> Kind | None:
    """What kind of secret a text holds behind this name, of one or two words; None where it says nothing of one."""
    if name.rsplit(" ", 1)[-1].lower() in SIGNED:
        return "random"
    return secret_kind(name.replace("$", "_"))


def iter_url_forms(value: str) -> Iterator[str]:
    """A value as it stands there, and what it is where a URL holds it."""
    yield value
    if "%" in value or "+" in value:
        yield unquote_plus(value)


def iter_if_secret(value: str, kind: Kind, bond: Bond, *, quoted: bool) -> Iterator[str]:
    """Yield a value where it is such a secret as its name says."""
    if (
        not value
        or value.lower() in _STATES
        or _REFERENCE.match(value)
        or not any(map(str.isalnum, value))
    ):
        return
    if kind == "number":
        if is_secret("pin", value) and (bond != "near" or any(map(str.isdigit, value))):
            yield value
        return
    if kind == "random" and not looks_random(value) and (bond == "near" or not _is_key(value)):
        return
    if PLACEHOLDER.search(value) or (
        value.isalpha() and secret_kind(value) is not None
    ):  # `--token TOKEN`
        return
    if bond == "near" and (len(value) < _SHORTEST_NEAR or not is_not_word(value)):
        return
    if len(value) < (4 if quoted else SHORTEST) or (not quoted and _EXPRESSION.match(value)):
        return
    if is_secret("password", value) and not (quoted and is_label(value)):
        yield value


def is_label(value: str) -> bool:
    """True for words that a person reads, such as a label or a hint, and false for a phrase of small words."""
    parts = value.split()
    if not all(map(str.isalpha, re.sub(r"[-'’.,;:!?…()]", "", value).split())):
        return len(parts) > 1 and any(part.strip(TAIL).lower() in _STATES for part in parts)
    if value.isalpha() and secret_kind(value) is not None:
        return True
    return (
        value[:1].isupper()
        or not value.isascii()
        or any(part.strip(TAIL).lower() in _STATES for part in parts)
    )


def _is_key(value: str) -> bool:
    """True for letters and digits that alternate, and stand together."""
    parts = re.findall(r"\w{12,}", value)
    return any(len(re.findall(r"[A-Za-z]+|\d+", part)) > 2 for part in parts)


def is_random(value: str) -> bool:
    """True for what looks drawn at random, and is no name of a class or function."""
    return looks_random(value) and not _CAMEL.fullmatch(value)


def is_not_word(value: str) -> bool:
    """True for what is neither a word, nor a number, nor a name or path made of words."""
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
