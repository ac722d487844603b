"""What a key of an object looks like: data of a certain form, a code, a phrase, or the name of a field."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

_FORMS = {
    "number": re.compile(r"-?\d+(\.\d+)?"),
    "date": re.compile(r"\d{4}-\d\d(-\d\d)?|\d{4}-?[QW]\d{1,2}|\d{1,2}/\d{1,2}/\d{4}"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?"),
    "clock": re.compile(r"\d{1,2}:\d\d(:\d\d)?"),
    "uuid": re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
    "hex": re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}"),
    "token": re.compile(r"(?=(?:[A-Za-z_-]*\d+){3})(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9_-]{16,}"),
    "numbered": re.compile(r"[A-Za-z]{1,5}[_-]?\d{4,}"),
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "address": re.compile(
        r"\d{1,3}(\.\d{1,3}){3}([:/]\d+)?|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?=.*:.*:)[0-9A-Fa-f:]{3,}"
    ),
    "location": re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://\S+|/\S*"),
    "host": re.compile(
        r"([A-Za-z0-9-]+\.)+(ai|app|at|au|be|biz|br|ca|ch|cloud|cn|com|de|dev|dk|edu|es|eu|example|fi|fr|gov|in|info|int|"
        r"invalid|io|it|jp|lan|local|localhost|me|mil|net|nl|org|pl|ru|se|test|uk|us)(:\d+)?"
    ),
    "file": re.compile(
        r"[^\s/]+\.(bmp|c|cfg|conf|cpp|css|csv|gif|go|gz|h|html|ini|java|jpe?g|js|json|lock|log|md|mp[34]|pdf|png|py|rs|"
        r"sh|sql|svg|toml|ts|tsx?|txt|wav|xml|ya?ml|zip)"
    ),
}  # fmt: skip

_CODES = {
    "upper": [r"[A-Z]{2}", r"[A-Z]{3}", r"[A-Z]{4}", r"[A-Z]{2,5}[-_/]?[A-Z]{2,5}", r"[a-z]{2}[-_][A-Z]{2}"],
    "lower": [r"[a-z]{2}", r"[a-z]{3}"],
}
_COMPOUND = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+|[a-z]+([A-Z][a-z0-9]+)+")
_LONGEST_NAME = 200
_FIELD = re.compile(r"[A-Za-z_$@#][A-Za-z0-9_$@#:.\-]*")


def form_of(key: str) -> str:
    """The form of data that a key certainly has (`date`, `uuid`, `host` …); empty for what may name a field."""
    if len(key) > _LONGEST_NAME:
        return "text"
    return next((name for name, form in _FORMS.items() if form.fullmatch(key)), "")


def code_of(keys: AbstractSet[str]) -> str:
    """What codes the keys are, all of one make: `opaque` ids, `upper` (currencies), `lower` (languages); or empty."""
    lengths = {len(key) for key in keys}
    if len(lengths) == 1 and min(lengths) >= 10 and all(re.fullmatch(r"[A-Za-z0-9_-]+", key) for key in keys):
        return "opaque" if 2 * sum(any(map(str.isdigit, key)) for key in keys) > len(keys) else ""
    return next(
        (case for case, codes in _CODES.items() for code in codes if all(re.fullmatch(code, key) for key in keys)), ""
    )


def is_numbered(keys: AbstractSet[str]) -> bool:
    """Whether most keys are numbered one after the other, three and more with one stem: `eth0`, `eth1`, `eth2`."""
    numbers: dict[str, list[int]] = {}
    for key in keys:
        if found := re.fullmatch(r"(.*?)([0-9]{1,9})", key):
            numbers.setdefault(found[1], []).append(int(found[2]))
    dense = [len(own) for own in numbers.values() if len(own) >= 3 and max(own) - min(own) < 2 * len(own)]
    return 2 * sum(dense) > len(keys)


def is_compound(key: str) -> bool:
    """Whether a key is written as names of fields of several words are: `read_count`, `readCount`."""
    return _COMPOUND.fullmatch(key) is not None


def is_phrase(key: str) -> bool:
    """Whether a key is written as fields are not: `New York`, `Zürich`, `R&D`."""
    return _FIELD.fullmatch(key) is None
