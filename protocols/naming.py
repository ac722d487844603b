"""Names: as the identifiers under which programs know tools and arguments, and as words: one spelling for `flightId`,
`flight-id` and `flight_ids`, and what words of names mean.
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
"""Characters of a name that is compared with others. Nobody mistypes a longer one."""
_MOST_COMPARED = 100_000
"""Names that one name is compared with; the first ones count."""
_MOST_READ = 2_000
"""Names of which the words are read, of those that have a word of the name."""


@lru_cache(maxsize=16_384)
def snake(name: str) -> str:
    """`flightId`, `flight-id` → `flight_id`."""
    split = (
        name
        if len(name) > 200
        else re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", name)
    )
    return re.sub(r"[^a-z0-9]+", "_", split.lower()).strip("_")


@lru_cache(maxsize=16_384)
def singular(name: str) -> str:
    """`airport_codes` → `airport_code`, `cities` → `city`, `addresses` → `address`."""
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
    """Return how alike two names are, from 0 to 1; 0 if either is longer than a name may be."""
    if max(len(one), len(other)) > LONGEST_COMPARED:
        return 0.0
    return float(Indel.normalized_similarity(one, other))


def closest_spellings(
    name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6
) -> list[str]:
    """Return up to `most` of `known` that are spelled most like `name`, the nearest first, at least `cutoff` alike."""
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
    """Return those of `known` that `name` was probably meant to be, the nearest first.

    A name that has all its words and more comes first, then one of the same noun, then what only looks like it:
    `fetch_order` is rather `get_order` than `fetch_other`.
    """
    if len(name) > LONGEST_COMPARED:
        return []
    known = [other for other in islice(known, _MOST_COMPARED) if len(other) <= LONGEST_COMPARED]
    ours = _words(name)
    spelled = snake(name)
    nouns = ours - VERBS
    begins = f"{spelled}_"
    close = closest_spellings(name, known, most=most, cutoff=cutoff)
    longer = (
        [other for other in _names_with_words(ours, known) if ours <= _words(other)]
        if len(ours) > 1
        else []
    )
    same = (
        [other for other in _names_with_words(nouns, known) if nouns <= _words(other)]
        if nouns and len(ours) > 1
        else []
    )
    began = [other for other in _names_with_words(ours, known) if snake(other).startswith(begins)]
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


def _names_with_words(wanted: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return the first names that may have all the words `wanted`: those that hold the longest word's letters."""
    longest = max(wanted, key=lambda word: (len(word), word), default="")
    stem = longest.removesuffix("y")  # the plural of `city` is `cities`
    return list(islice((other for other in known if stem in other.lower()), _MOST_READ))


@lru_cache(maxsize=16_384)
def _words(name: str) -> frozenset[str]:
    return frozenset(singular(word) for word in snake(name).split("_"))


# --- aliases: valid Python identifiers

_RESERVED_TOOL_NAMES = frozenset(dir(builtins)) | {"ToolError", "asyncio", "json", "math", "re"}


def identifier(name: str) -> str:
    """The identifier nearest to `name`: `read-file` → `read_file`, `from` → `from_`, `2fa` → `_2fa`.

    A name with nothing to keep becomes `unnamed`.

    Letters are folded to their compatibility form as Python itself folds them, so two aliases that look alike to the
    interpreter are alike here too. No name becomes a dunder or a keyword; soft ones (`type`, `match`) are names.
    """
    folded = unicodedata.normalize("NFKC", name)
    kept = re.sub(r"\W+", "_", folded)
    if not (kept.isascii() or kept.isidentifier() or ("_" + kept).isidentifier()):
        kept = re.sub(r"[^0-9A-Za-z_]+", "_", kept)
    if kept.startswith("__"):  # Python mangles or reserves these
        kept = "_" + kept.lstrip("_")
    kept = kept.rstrip("_") or "unnamed"
    if kept[0].isdigit() or not kept.isidentifier():
        kept = "_" + kept
    return kept + "_" if keyword.iskeyword(kept) else kept


def argument_aliases(names: Sequence[str]) -> dict[str, str]:
    """Alias → argument name, in the order of `names`, unique within one tool."""
    chosen = _assign([(name, "") for name in names], reserved=())
    return dict(zip(chosen, names, strict=True))


def tool_aliases(tools: Sequence[tuple[str, str]]) -> list[str]:
    """One alias for each `(tool name, source name)`, unique in the toolbox, the same for the same tools in any order.

    A name whose identifier nobody else wants, and that shadows no builtin, is that identifier. The others take their
    source's name as prefix; those that still clash are numbered in the order of their original names.
    """
    return _assign(tools, reserved=_RESERVED_TOOL_NAMES)


class FreeNames:
    """Gives out names, each once: `free("page")` is `page`, then `page_2`. Quick also where all want the same one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._numbers = dict.fromkeys(
            taken, 1
        )  # names, each with the number that was last tried after it

    def __call__(self, base: str) -> str:
        """`base`, numbered where it is taken; it is taken from now on."""
        name = base
        while name in self._numbers:
            self._numbers[base] += 1
            name = f"{base}_{self._numbers[base]}"
        self._numbers[name] = 1
        return name


def _assign(names: Sequence[tuple[str, str]], *, reserved: Iterable[str]) -> list[str]:
    plain = [identifier(name) for name, _ in names]
    prefixed = [
        identifier(f"{source}_{name}") if source else identifier(name) for name, source in names
    ]
    result: dict[int, str] = {}
    taken = set(reserved)
    for wanted in (plain, prefixed):
        left = [(i, alias) for i, alias in enumerate(wanted) if i not in result]
        claims = Counter(alias for _, alias in left)
        result |= {i: alias for i, alias in left if claims[alias] == 1 and alias not in taken}
        taken.update(result.values())
    free = FreeNames([*taken, *prefixed])
    for i in sorted({*range(len(names))} - result.keys(), key=lambda i: (names[i], i)):
        result[i] = free(prefixed[i])
    return [result[i] for i in range(len(names))]


# --- what words say: of identifiers, of what a caller makes up, of what a tool does


def split_words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


WORDS: dict[str, dict[str, frozenset[str]]] = {
    table: {name: split_words(text) for name, text in lists.items()}
    for table, lists in tomllib.loads(
        Path(__file__).with_name("words.toml").read_text("utf-8")
    ).items()
}
_NAMES = WORDS["names"]
_LISTS = (
    "id_words",
    "vague",
    "wrappers",
    "not_linked",
    "verbs",
    "searches",
    "positions",
    "sends",
    "tells",
    "pays",
)
ID_WORDS, VAGUE, WRAPPERS, NOT_LINKED, VERBS, SEARCHES, POSITIONS, SENDS, TELLS, PAYS = (
    _NAMES[one] for one in _LISTS
)
