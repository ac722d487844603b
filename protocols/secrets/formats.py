"""Finds credentials by their format, with the rules of gitleaks from the package `secretscreen`.

Only the data file with the rules is used. No code of the package runs, and no credential is sent
anywhere for verification.
"""

from __future__ import annotations

import base64
import math
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import NamedTuple

_BY_NAME = frozenset({"generic-api-key"})
"""Ids of rules that are not used, since they look for the name of a secret next to a value.
`protocols.secrets.texts` does this for all names.
"""
_NAME_BEFORE = r"[\w.-]{0,50}?"
"""The beginning of many rules, which matches the part of a name before the keyword. It is removed
from the rules, since they find the same secrets without it, fifty times as fast.
"""
_BEFORE = 200
_AFTER = 1_000
"""Number of characters before and after a rule's keyword that are searched."""
_MOST_WINDOWS = 600
_MOST_PLACES = 10_000
"""Limits for one text. Around the first `_MOST_WINDOWS` occurrences of keywords, the surrounding
text is searched. At the next `_MOST_PLACES` occurrences, the rule is only matched at the keyword
itself. Further ones are skipped.
"""
_LONG = re.compile(r"[^\s\"'<>,;()\[\]{}]{16}")
"""A series of 16 characters, as every credential of a known format contains: a quick first test."""
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,80}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z ]{0,80}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_PUBLIC = re.compile(
    r"-----BEGIN [A-Z ]{0,80}(?:CERTIFICATE|PUBLIC KEY)-----[A-Za-z\d+/=\s]{0,20000}"
    r"-----END [A-Z ]{0,80}(?:CERTIFICATE|PUBLIC KEY)-----"
)
"""A certificate or a public key, of which each line looks like a secret."""
_ENCODED_KEY = re.compile(r"LS0tLS1CRUdJTi[\w+/=]{40,}")
"""Base64 of a text that begins with `-----BEGIN`, as keys are written in Kubernetes settings."""
_LOOSE = re.compile(
    r"""\b(?:gh[opsu]_\w{30,} | ghr_\w{30,} | github_pat_\w{30,} | glpat-[\w-]{20,}
        | hf_\w{30,} | [MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}
        | npm_\w{36} | xox[abeprs]-[\w-]{10,} | [rs]k_(?:live|test)_\w{16,}
        | sk-[\w-]{20,} | AIza[\w-]{35} | pypi-[\w-]{50,})
    """,
    re.VERBOSE,
)
"""Credentials in formats for which there are rules, but with fewer or more characters than a rule
allows, for example because the end is cut off.
"""
# The lookahead requires all three parts, so that matching takes linear time.
_JWT = re.compile(
    r"(?<![\w-])(?=[\w-]++\.eyJ[\w-]{8,}+\.[\w-]{8})(?:[\w-]*?-)??"
    r"(eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+)"
)
_HASH = re.compile(
    r"\$(?:2[abxy]?|[156y]|apr1|sha1|argon2\w{1,3}|pbkdf2[\w-]{0,12}|scrypt)\$[\w./+=,$-]{16,300}"
)
"""A password hash of `crypt`, bcrypt, Argon2 and similar functions."""
_VARIABLE = re.compile(r"[\"']?\$[{A-Za-z_]")
"""The beginning of a variable of a shell, such as `"$USER:$TOKEN"`."""
_WORD = re.compile("[a-z0-9]+")


class _Rule(NamedTuple):
    """One rule of gitleaks: a pattern that matches a kind of secret.

    `group` is the number of the group in the pattern that is the secret. `entropy` is the minimum
    entropy of the secret in bits per character.
    """

    pattern: str
    ignore_case: bool
    group: int
    entropy: float


def find_known_formats(text: str) -> Iterator[str]:
    """Yield the credentials in a text that are recognized by their format, such as private keys."""
    if _LONG.search(text) is None:
        return
    if "PRIVATE KEY" in text:
        yield from (found[0] for found in _PRIVATE_KEY.finditer(text))
    for found in _ENCODED_KEY.finditer(text):
        if _is_encoded_private_key(found[0]):
            yield found[0]
    yield from (found[0] for found in _LOOSE.finditer(text))
    if ".eyJ" in text:
        yield from (found[1] for found in _JWT.finditer(text))
    if "$" in text:
        yield from (found[0] for found in _HASH.finditer(text))
    yield from _find_by_rules(text)


def _find_by_rules(text: str) -> Iterator[str]:
    """Yield the credentials in a text that the rules of gitleaks find."""
    lower = text.lower()
    # Some letters have two characters in lower case. Positions would differ.
    if len(lower) != len(text):
        lower = text
    budget = _SearchBudget()
    # Words repeat, so this is far shorter than the text.
    words = "\n".join(set(_WORD.findall(lower)))
    for keyword, rules in _rules().items():
        if _core(keyword) in words and keyword in lower:
            places = list(islice(_places(keyword, lower), _MOST_PLACES))
            for rule in rules:
                yield from _find_by_rule(rule, text, places, budget)


def without_keys(text: str) -> str:
    """Return a text without the private keys, public keys and certificates in it.

    Their lines look like secrets, but they contain no names of secrets.
    """
    if "-----BEGIN " not in text:
        return text
    return _PUBLIC.sub(" ", _PRIVATE_KEY.sub(" ", text))


def _is_encoded_private_key(text: str) -> bool:
    """Return True if the text is a private key in PEM format that is encoded in base64."""
    with suppress(ValueError):
        return b"PRIVATE KEY" in base64.b64decode(text[: len(text) // 4 * 4])[:80]
    return False


class _SearchBudget:
    """The number of searches that are still allowed in one text, so that no text takes long.

    See `_MOST_WINDOWS` and `_MOST_PLACES`.
    """

    def __init__(self) -> None:
        self.windows = _MOST_WINDOWS
        self.places = _MOST_PLACES


def _places(keyword: str, text: str) -> Iterator[int]:
    """Yield the index of each occurrence of a keyword in a text."""
    place = text.find(keyword)
    while place >= 0:
        yield place
        place = text.find(keyword, place + len(keyword))


def _find_by_rule(
    rule: _Rule, text: str, places: list[int], budget: _SearchBudget
) -> Iterator[str]:
    """Yield the secrets that one rule of gitleaks finds in a text.

    `places` are the indexes in the text at which a keyword of the rule occurs. Only the text around
    them is searched.
    """
    pattern = _compile_rule(rule)
    done = 0
    seen = 0
    for place in places:
        if place < done:
            continue
        if place >= seen and budget.windows > 0:
            budget.windows -= 1
            found = pattern.search(text, max(done, place - _BEFORE), place + _AFTER)
            seen = place + _AFTER // 2
        elif budget.places > 0:
            budget.places -= 1
            found = pattern.match(text, place)
        else:
            return
        if found is None:
            continue
        done = found.end()
        secret = found[rule.group] if rule.group else next(filter(None, found.groups()), found[0])
        is_variable = secret is not None and _VARIABLE.match(secret) is not None
        if secret and not is_variable and (not rule.entropy or _entropy(secret) >= rule.entropy):
            yield secret


@cache
def _rules() -> dict[str, list[_Rule]]:
    """Return the rules of gitleaks, keyed by keyword.

    A rule matches only near one of its keywords.
    """
    spec = find_spec("secretscreen")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            "secretscreen, one of the dependencies, is missing", name="secretscreen"
        )
    document = tomllib.loads(
        Path(spec.origin).with_name("gitleaks.toml").read_text(encoding="utf-8")
    )
    rules: dict[str, list[_Rule]] = {}
    for entry in document["rules"]:
        if "regex" not in entry or entry["id"] in _BY_NAME:
            continue
        pattern = (
            entry["regex"]
            .replace("(?i)", "")
            .replace(r"\z", r"\Z")
            .replace("[[:alnum:]]", "[a-zA-Z0-9]")
        )
        pattern = pattern.replace(_NAME_BEFORE, "")
        rule = _Rule(
            pattern,
            "(?i)" in entry["regex"],
            entry.get("secretGroup", 0),
            entry.get("entropy", 0.0),
        )
        for keyword in entry["keywords"]:
            rules.setdefault(keyword.lower(), []).append(rule)
    return rules


@cache
def _core(keyword: str) -> str:
    """Return the longest series of letters and digits in a keyword, such as `slack` of `slack_`.

    Any text that contains the keyword has this series inside one of its words. So only texts with
    such a word need to be searched for the keyword.
    """
    return max((found[0] for found in _WORD.finditer(keyword)), key=len)


@cache
def _compile_rule(rule: _Rule) -> re.Pattern[str]:
    return re.compile(rule.pattern, re.IGNORECASE if rule.ignore_case else 0)


def _entropy(text: str) -> float:
    """Return the entropy of a text in bits per character, computed from character frequencies."""
    shares = [text.count(letter) / len(text) for letter in dict.fromkeys(text)]
    return -sum(share * math.log2(share) for share in shares)
