"""Which names say that what they hold is a secret: `api_key`, `userPassword`, `X-Auth-Token`; not `token_count`."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from protocols.jsontypes import Json

Kind = Literal["text", "number", "random"]
"""What a secret of that name looks like. *text*: any text, or a long number. *number*: a short code (a PIN, an OTP, the
number of a card). *random*: only what looks drawn at random, since the name has other uses (`key`, `tokens`)."""

# Names are compared by their last words, joined: `api_key`, `apiKey`, `X-Api-Key` and `apikey` all end in `apikey`.
_TOKENS = frozenset({
    "access", "api", "app", "auth", "bearer", "csrf", "device", "id", "refresh", "reset", "secret", "session", "xsrf",
})  # fmt: skip
_KEYS = frozenset({
    "access", "admin", "api", "app", "application", "auth", "authentication", "authorization", "client", "consumer",
    "decryption", "encryption", "hmac", "licence", "license", "master", "private", "recovery", "secret", "shared",
    "signing", "ssh", "subscription", "wallet", "webhook",
})  # fmt: skip
_TEXT = frozenset({
    "authorization", "connectionstring", "cookie", "cookies", "credential", "credentials", "jsessionid", "jwt",
    "mnemonic", "pass", "passkey", "passphrase", "passwd", "password", "passwords", "phpsessid", "pwd",
    "recoveryphrase", "secret", "secrets", "seedphrase", "token",
    *(f"{word}{ending}" for word in _TOKENS for ending in ("token", "tokens")),
    *(f"{word}{ending}" for word in _KEYS for ending in ("key", "keys")),
})  # fmt: skip
_NUMBER = frozenset({
    "accesscode", "backupcode", "backupcodes", "cardnumber", "cardverification", "cardverificationcode",
    "cardverificationnumber", "ccnumber", "creditcard", "cvc", "cvn", "cvv", "debitcard", "facode", "mfacode",
    "onetimecode", "otp", "otpcode", "passcode", "pin", "pinnumber", "recoverycode", "recoverycodes", "resetcode",
    "securitycode", "smscode", "socialsecuritynumber", "ssn", "totp", "totpcode", "twofactorcode", "verificationcode",
})  # fmt: skip
_RANDOM = frozenset({
    "auth", "authcode", "authorizationcode", "bearer", "csrf", "key", "keys", "session", "sessionid", "tokens", "xsrf",
})  # fmt: skip
_LONGEST = 4  # words in one entry above: `two_factor_code` has three, `2_fa_code` four parts

_NOTHING_NEW = frozenset({
    "again", "b", "base", "confirm", "confirmation", "current", "digest", "encoded", "encrypted", "hash", "hashed",
    "header", "hex", "new", "old", "pem", "plain", "plaintext", "raw", "repeat", "repeated", "salt", "string", "v",
    "value", "verify",
})  # fmt: skip
"""Last words after which a name still names the secret: `password_hash`, `token_value`, `api_key_v2`."""

_OTHERWISE = {
    "token": frozenset({
        "bos", "change", "cls", "continuation", "continue", "cursor", "delta", "end", "eos", "mask", "next", "pad",
        "page", "pagination", "paging", "prev", "previous", "resume", "sep", "skip", "special", "start", "stop",
        "sync", "unk",
    }),
    "key": frozenset({
        "alternate", "blob", "cache", "composite", "dedup", "deduplication", "dict", "file", "foreign", "group",
        "idempotence", "idempotency", "image", "index", "issue", "join", "locale", "lookup", "map", "message",
        "natural", "object", "ordering", "partition", "primary", "project", "public", "publishable", "range",
        "routing", "row", "sort", "surrogate", "translation", "unique",
    }),
    "pass": frozenset({"boarding", "bus", "day", "guest", "mountain", "season", "ski", "track", "travel", "year"}),
}  # fmt: skip
"""Words before the last one that give it another meaning: a page token, a primary key, a ski pass."""

_QUESTIONS = frozenset({"can", "count", "has", "is", "max", "min", "n", "num", "requires", "total"})
"""First words of names that hold a number or a yes or no about it."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CODE = re.compile(r"(?=[^\d]*\d)[A-Za-z0-9][A-Za-z0-9 \-]{2,40}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TIME = re.compile(r"\d{8}T\d{6}")
_NOT_SAID = frozenset({"basic", "bearer", "false", "n/a", "none", "null", "optional", "required", "true", "unknown"})
_LONG_NUMBER = 6  # digits from which a number is a token rather than a count of them
_RANDOM_LENGTH, _RANDOM_PART, _RANDOM_CHANGES = 16, 8, 3


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """What kind of secret a field of this name holds; None where the name says nothing of one."""
    words = [word.lower() for word in _WORDS.findall(name[:100])]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _NOTHING_NEW):
        words.pop()
    if not words or words[0] in _QUESTIONS:
        return None
    before = words[-2] if len(words) > 1 else ""
    if before in _OTHERWISE.get(words[-1].removesuffix("s") if words[-1] != "pass" else "pass", ()):
        return None
    endings = ["".join(words[-size:]) for size in range(min(_LONGEST, len(words)), 0, -1)]
    for kind, names in (("text", _TEXT), ("number", _NUMBER), ("random", _RANDOM)):
        if any(ending in names for ending in endings):
            return kind  # type: ignore[return-value]
    return None


def fits(kind: Kind, value: Json) -> bool:
    """Whether `value`, found under a name of this kind, is such a secret, and not a flag, a count or a word."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    if not isinstance(value, str):
        digits = sum(character.isdigit() for character in str(value))
        return kind == "number" or (kind == "text" and digits >= _LONG_NUMBER)
    text = value.strip()
    if not text or text.lower() in _NOT_SAID:
        return False
    if kind == "number":
        return _CODE.fullmatch(text) is not None
    return kind == "text" or looks_random(text)


def looks_random(text: str) -> bool:
    """Whether letters and digits alternate as they do in a key, and not in a slug, a UUID or a time."""
    if len(text) < _RANDOM_LENGTH or any(map(str.isspace, text)) or _UUID.fullmatch(text) or _TIME.search(text):
        return False
    return any(
        len(part) >= _RANDOM_PART and _changes(part) >= _RANDOM_CHANGES for part in re.findall("[A-Za-z0-9]+", text)
    )


def _changes(part: str) -> int:
    """How often a lower-case letter, a capital or a digit is followed by another of the three."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in part]
    return sum(a != b for a, b in pairwise(kinds)) - (kinds[:2] == ["u", "l"])
