"""Names of tools and arguments: identifiers, similar names, and word lists.

An *alias* is the name by which programs call a tool or pass an argument: a valid and unique Python
identifier.
"""

from __future__ import annotations

import builtins
import keyword
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from rapidfuzz import process
from rapidfuzz.distance import Indel

LONGEST_COMPARED = 80
"""Maximum length in characters of a name that is compared with others.

Longer names are not typing mistakes.
"""
_MOST_COMPARED = 100_000
"""Maximum number of names that one name is compared with: the first ones of the list."""
_MOST_READ = 2_000
"""Maximum number of candidate names that are split into words."""


@lru_cache(maxsize=16_384)
def snake(name: str) -> str:
    """Return a name in snake case: `flightId`, `flight-id` → `flight_id`."""
    split = (
        name
        if len(name) > 200
        else re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", name)
    )
    return re.sub(r"[^a-z0-9]+", "_", split.lower()).strip("_")


@lru_cache(maxsize=16_384)
def singular(name: str) -> str:
    """Return a name in the singular: `airport_codes` → `airport_code`, `cities` → `city`."""
    if name.endswith("ies") and len(name) > 4 and name not in ("series", "movies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return (
        name[:-1]
        if name.endswith("s") and not name.endswith(("ss", "us", "is", "series"))
        else name
    )


def similarity(one: str, other: str) -> float:
    """Return the similarity of two names, from 0 to 1.

    It is 0 if either is too long to be compared.
    """
    if max(len(one), len(other)) > LONGEST_COMPARED:
        return 0.0
    return float(Indel.normalized_similarity(one, other))


def closest_spellings(
    name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6
) -> list[str]:
    """Return those names of `known` whose spelling is most similar to `name`, best first.

    There are at most `most` of them. Names with a similarity below `cutoff` (from 0 to 1) are left
    out.
    """
    if len(name) > LONGEST_COMPARED:
        return []
    compared = [other for other in islice(known, _MOST_COMPARED) if len(other) <= LONGEST_COMPARED]
    found = process.extract(
        name, compared, scorer=Indel.normalized_similarity, score_cutoff=cutoff, limit=most
    )
    return [other for other, _, _ in found]


def closest_meanings(
    name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6
) -> list[str]:
    """Return those names of `known` that are most likely meant by the wrong name `name`.

    There are at most `most` of them, the most likely one first. Names that contain all words of
    `name` come before names with the same noun, and names with only a similar spelling come last.
    For example, `fetch_order` more likely means `get_order` than `fetch_other`. `cutoff` is the
    minimum similarity of a spelling, from 0 to 1.
    """
    if len(name) > LONGEST_COMPARED:
        return []
    known = [other for other in islice(known, _MOST_COMPARED) if len(other) <= LONGEST_COMPARED]
    ours = _words(name)
    spelled = snake(name)
    nouns = ours - VERBS
    begins = f"{spelled}_"
    close = closest_spellings(name, known, most=most, cutoff=cutoff)
    longer = _names_with_words(ours, known) if len(ours) > 1 else []
    same = _names_with_words(nouns, known) if nouns and len(ours) > 1 else []
    began = [other for other in _candidates(ours, known) if snake(other).startswith(begins)]
    tails = {spelled[at + 1 :] for at, letter in enumerate(spelled) if letter == "_"}
    ends = [
        other
        for other in known
        if other[-1:].isalnum() and other.lower()[-3:] in spelled and snake(other) in tails
    ]
    longer.sort(key=lambda other: (not f"{snake(other)}_".startswith(begins), len(other)))
    same.sort(key=lambda other: (len(_words(other) - nouns), other not in close, len(other)))
    sure = (
        []
        if closest_spellings(name, close, cutoff=0.8)
        else [*ends, *(began if len(began) == 1 else ())]
    )
    return list(dict.fromkeys([*longer, *same, *sure, *close]))[:most]


def _names_with_words(wanted: frozenset[str], known: Sequence[str]) -> list[str]:
    """Return the names of `known` that contain all `wanted` words.

    Only a limited number of names is searched.
    """
    return [other for other in _candidates(wanted, known) if wanted <= _words(other)]


def _candidates(wanted: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return the names of `known` that contain the longest of the `wanted` words as a substring.

    No other name can contain all `wanted` words as words. This check is faster than splitting each
    name into words. Only the first of these names are returned.
    """
    longest = max(wanted, key=lambda word: (len(word), word), default="")
    stem = longest.removesuffix("y")  # the plural of `city` is `cities`
    return list(islice((other for other in known if stem in other.lower()), _MOST_READ))


@lru_cache(maxsize=16_384)
def _words(name: str) -> frozenset[str]:
    return frozenset(singular(word) for word in snake(name).split("_"))


# --- aliases: valid Python identifiers

_MODULES = {"ToolError", "File", "asyncio", "json", "math", "re"}
_RESERVED_TOOL_NAMES = frozenset(dir(builtins)) | _MODULES
_COMPARISONS = {
    "<=": "lte", ">=": "gte", "!=": "ne", "==": "eq", "<>": "ne", "<": "lt", ">": "gt", "=": "eq",
    "!": "not",
}  # fmt: skip
"""Words for the operators in names such as `DateSent>`, whose meaning an identifier would lose."""
_OPERATOR = re.compile(r"<=|>=|!=|==|<>|[<>=!]")
_MOST_SPELLED = 3
"""Maximum number of operators, and of signs, in a name in which they become words."""
_SIGNS = {
    "+": "plus", "-": "minus", "*": "star", "%": "percent", "&": "and", "|": "or", "~": "tilde",
    "@": "at", "$": "dollar", "#": "hash", "^": "caret",
}  # fmt: skip
"""Words for signs in names that are otherwise equal. A minus is one only before the name."""


def identifier(name: str) -> str:
    """Return the Python identifier for a name: `read-file` → `read_file`, `from` → `from_`.

    Comparison operators become words: `DateSent>=` → `DateSent_gte`. A name without usable
    characters becomes `unnamed`. Letters are normalized (NFKC) as Python does, so names that Python
    treats as equal become equal. No name becomes a dunder or a keyword; soft keywords (`type`,
    `match`) are allowed.
    """
    folded = unicodedata.normalize("NFKC", name)
    if len(_OPERATOR.findall(folded)) <= _MOST_SPELLED:
        folded = _OPERATOR.sub(lambda sign: f"_{_COMPARISONS[sign[0]]}_", folded)
    kept = re.sub(r"\W+", "_", folded)
    if not (kept.isascii() or kept.isidentifier() or ("_" + kept).isidentifier()):
        kept = re.sub(r"[^0-9A-Za-z_]+", "_", kept)
    if kept.startswith("__"):  # Python mangles or reserves these
        kept = "_" + kept.lstrip("_")
    kept = kept.rstrip("_") or "unnamed"
    if kept[0].isdigit() or not kept.isidentifier():
        kept = "_" + kept
    return kept + "_" if keyword.iskeyword(kept) else kept


def _spell_signs(name: str) -> str:
    """Return a name with its signs as words: `+1` → `plus_1`, `@id` → `at_id`."""
    signs = re.compile(r"^-|[+*%&|~@$#^]")
    if len(signs.findall(name)) > _MOST_SPELLED:
        return name
    return signs.sub(lambda sign: f"_{_SIGNS[sign[0]]}_", name).lstrip("_")


def argument_aliases(names: Sequence[str]) -> dict[str, str]:
    """Return the original names of arguments, keyed by the unique alias that is chosen for each.

    Programs use the alias. The order of the names is kept. A name that is an identifier is its own
    alias. Operators become words (`DateSent>` is `DateSent_gt`), and so do other signs where two
    names differ only in them. Aliases that are still equal get a number.
    """
    chosen = _assign([(name, "") for name in names], reserved=())
    return dict(zip(chosen, names, strict=True))


def tool_aliases(tools: Sequence[tuple[str, str]]) -> list[str]:
    """Return a unique alias, the name in programs, for each pair (tool name, source name).

    The alias is the identifier of the name if it is unique and not a builtin; a name that needs no
    change comes before one that does. Other names get the name of their source as a prefix. Aliases
    that are still equal get a number, in the order of the tools' names. The order in which the
    tools are given has no influence.
    """
    return _assign(tools, reserved=_RESERVED_TOOL_NAMES)


class FreeNames:
    """Generates unique names: called twice with `page`, it returns `page`, then `page_2`.

    Names in `taken` are never returned. Generating many names from one base is fast.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._numbers = dict.fromkeys(taken, 1)  # last number that was tried for each name

    def __call__(self, base: str) -> str:
        """Return `base`, or `base` with a number if it is taken. Mark the result as taken."""
        name = base
        while name in self._numbers:
            self._numbers[base] += 1
            name = f"{base}_{self._numbers[base]}"
        self._numbers[name] = 1
        return name


def _assign(names: Sequence[tuple[str, str]], *, reserved: Iterable[str]) -> list[str]:
    """Return a unique Python identifier for each (name, source), none of which is in `reserved`."""
    plain = [identifier(name) for name, _ in names]
    with_signs = [identifier(_spell_signs(name)) for name, _ in names]
    prefixed = [
        identifier(f"{source}_{name}") if source else identifier(name) for name, source in names
    ]
    everyone = range(len(names))
    unchanged = [i for i, (name, _) in enumerate(names) if plain[i] == name]
    result: dict[int, str] = {}
    taken = set(reserved)
    for candidates, indexes in (
        (plain, unchanged),
        (plain, everyone),
        (with_signs, everyone),
        (prefixed, unchanged),
        (prefixed, everyone),
    ):
        _assign_unique(candidates, indexes, result, taken)
    free = FreeNames([*taken, *prefixed])
    for i in sorted({*range(len(names))} - result.keys(), key=lambda i: (names[i], i)):
        result[i] = free(prefixed[i])
    return [result[i] for i in range(len(names))]


def _assign_unique(
    candidates: Sequence[str], indexes: Sequence[int], result: dict[int, str], taken: set[str]
) -> None:
    """Add to `result` and `taken` the candidates that are free and that no other index claims.

    Of the `indexes`, only those that `result` lacks get a candidate.
    """
    open_indexes = [i for i in indexes if i not in result]
    claims = Counter(candidates[i] for i in open_indexes)
    for i in open_indexes:
        if claims[candidates[i]] == 1 and candidates[i] not in taken:
            result[i] = candidates[i]
    taken.update(result.values())


# --- word lists: words of ids, of values that callers choose, and of verbs


def split_words(text: str) -> frozenset[str]:
    """Return the set of words in a text, which are separated by white space."""
    return frozenset(text.split())


def _read_words() -> dict[str, dict[str, frozenset[str]]]:
    """Return the word lists of `words.toml`, keyed by table and then by name of the list."""
    tables = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
    result = {}
    for table, lists in tables.items():
        result[table] = {name: split_words(text) for name, text in lists.items()}
    return result


WORDS = _read_words()
_NAMES = WORDS["names"]
_LISTS = (
    "id_words",
    "vague",
    "wrappers",
    "not_linked",
    "verbs",
    "searches",
    "positions",
    "others",
    "sends",
    "tells",
    "pays",
)
ID_WORDS, VAGUE, WRAPPERS, NOT_LINKED, VERBS, SEARCHES, POSITIONS, OTHERS, SENDS, TELLS, PAYS = (
    _NAMES[one] for one in _LISTS
)
