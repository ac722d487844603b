"""Recognition of the addresses of people and accounts: e-mail, telephone, IBAN and wallets."""

from __future__ import annotations

import re
from hashlib import sha256

_LONGEST_ADDRESS = 400
"""A longer text is not one address."""
_EMAIL = re.compile(
    r"(?:(?:mailto|sips?|xmpp|im):)?(?:[^\s@<>,;:\"()]+|\"[^\"]+\")@"
    r"(?:[^\s@<>,;:\"()]+\.[^\s@<>,;:\"()]+|\[[\da-f.:]+\])",
    re.IGNORECASE,
)
_NAMED_EMAIL = re.compile(r"[^<>]*<[^\s@<>]+@[^\s@<>]+>")
_PHONE = re.compile(
    r"(?:tel|sms):\S+|\(?\+\d[\d\s().-]{6,20}|00\d{1,3}[\s(/.-][\d\s()/.-]{6,20}", re.IGNORECASE
)
_COMMENTED_EMAIL = re.compile(
    r"([^\s()]+@[^\s()]+)\s*\([^()]*\)|[\w\s.-]{1,60}:\s*([^:;]+@[^:;]+);"
)
"""An e-mail address with a comment, or a group of addresses (RFC 5322)."""
_WRITTEN_IBAN = re.compile(
    r"(?:IBAN:?\s*)?([A-Z]{2}\d{2}(?:[ .-]?[A-Z0-9]){11,30}?)"
    r"(?:[\s,]+[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)?"
)
"""An IBAN, with or without spaces, the word before it and a BIC after it."""
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_WALLET = re.compile(r"0x[0-9a-f]{40}|(?:bc|tb|ltc)1[02-9ac-hj-np-z]{38,62}", re.IGNORECASE)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def is_email(text: str) -> bool:
    """Return True if the whole text is one e-mail address."""
    return len(text) <= _LONGEST_ADDRESS and _EMAIL.fullmatch(text) is not None


def is_contact(text: str) -> bool:
    """Return True if the text is a list of e-mail addresses, or a phone number, IBAN or wallet.

    A wallet is the address of an account of a cryptocurrency.
    """
    if len(text) > _LONGEST_ADDRESS:
        return all(map(is_email, re.split(r"[,;\s]+", text)))
    parts = [part.strip() for part in re.split(r"[,;\n]", text) if part.strip()]
    if parts and all(is_email(part) or _NAMED_EMAIL.fullmatch(part) for part in parts):
        return True
    if (named := _COMMENTED_EMAIL.fullmatch(text)) is not None:
        return is_contact(named[1] or named[2])
    if any(pattern.fullmatch(text) for pattern in (_PHONE, _WALLET)) or _is_base58_address(text):
        return True
    iban = _WRITTEN_IBAN.fullmatch(text.upper())
    return iban is not None and _is_iban(re.sub(r"[\s.-]", "", iban[1]))


def _is_base58_address(text: str) -> bool:
    """Return True if the text is a wallet address whose checksum, of Bitcoin's kind, is correct."""
    if not 25 <= len(text) <= 36 or not set(text) <= set(_BASE58):
        return False
    value = 0
    for sign in text:
        value = value * 58 + _BASE58.index(sign)
    if value.bit_length() > 8 * 25:
        return False
    data = value.to_bytes(25, "big")
    return sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def _is_iban(text: str) -> bool:
    """Return True if the text is an IBAN with correct check digits (ISO 13616)."""
    digits = "".join(str(int(c, 36)) for c in text[4:] + text[:4]) if _IBAN.fullmatch(text) else "0"
    return int(digits) % 97 == 1
