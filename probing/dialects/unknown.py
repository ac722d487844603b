"""Sentences that say an argument is not one of the tool's, and which ones are."""

from __future__ import annotations

import re

from probing.dialects.clauses import MAX_TEXT, subject
from probing.dialects.listing import read_list
from probing.dialects.missing import PLACE, STOP, states_missing
from probing.dialects.naming import Names, identifiers
from probing.hint import Hint

_UNKNOWN = re.compile(
    rf"\b(?:unknown|unexpected|unrecogni[sz]ed|unsupported|undefined|unpermitted|extra|extraneous|undeclared"
    rf"|disallowed|no such|received unknown|(?:takes|has|accepts|expects) no)\s+{PLACE}"
    r"(?:arguments?|param(?:eter)?s?|fields?|propert(?:y|ies)|keys?|keyword|attributes?"
    r"|args?)(?:\(s\))?(?:\s+(?:names?|supplied|provided|given|found|received"
    r"|passed))*(?:\s+in (?:the )?\w+(?: \w+)?)?\s*:?\s*",
    re.IGNORECASE,
)  # fmt: skip
_ADDITIONAL = re.compile(
    (
        r"\badditional propert(?:y|ies) (?:are|is) not allowed \(\s*|\bunspecified keys:\s*"
        r"|\bmust not contain (?=[{\['\"])|\bno such option:?\s*"
        r"|\b(?:parameters?|arguments?|fields?|keys?) (?:are|is|were|was) "
        r"(?:not (?:recogni[sz]ed|allowed|supported|permitted|accepted|known)|unknown|unexpected):\s*"
    ),
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(
    r"^[\s:]*(?:(?:argument|parameter|field|property|key)\s+)?(?:is|are|was)? ?(?:not (?:allowed|permitted"
    r"|recogni[sz]ed|supported|accepted|expected|a (?:valid|known|recogni[sz]ed|supported) (?:query "
    r"|request )?(?:argument|param\w*|field|property|key|attribute))|unknown|unexpected)\s*(?:here|by this \w+"
    r"|for this \w+|in this \w+)?[.!]?$"
    r"|^[\s:]*(?:unknown field|unexpected field|extra (?:fields|inputs|keys) (?:are )?not (?:permitted"
    r"|allowed)|this field is not (?:allowed|expected)|(?:must|should) not exist)"
    r"|\bexpected (?:a value of type )?[`'\"]?never\b",
    re.IGNORECASE,
)
_ALLOWED = re.compile(
    (
        r"\b(?:(?:allowed|valid|known|accepted|supported|permitted|expected|available"
        r"|possible)\s+(?:\w+\s+)?(?:arguments?|param(?:eter)?s?|fields|keys|properties|attributes|ones)"
        r"|(?:operation|tool|endpoint|method|function|request|route)(?:'s|s)?\s+(?:arguments?|param(?:eter)?s?)"
        r"|takes(?: only)?(?: the)?(?: (?:arguments|parameters))?|(?:arguments|parameters) (?:are"
        r"|must be one of))\s*(?:are|is|include)?\s*:?\s*"
    ),
    re.IGNORECASE,
)
_EXPECTED = re.compile(r"\b(?:expected|must be|should be|use)(?: one of| any of)?\s*:?\s*", re.IGNORECASE)


def speaks_of_unknown(text: str) -> bool:
    """Whether a message says anywhere that an argument is not known."""
    return _UNKNOWN.search(text[:MAX_TEXT]) is not None


def read_unknown(clause: str, names: Names, current: str | None, *, fixed: bool, before: bool) -> list[Hint]:
    """*unknown* and *allowed*. `fixed`: `current` is told by the reply's structure; `before`: one was told already."""
    strange: list[Hint] = []
    end = 0
    match = _UNKNOWN.search(clause) or _ADDITIONAL.search(clause)
    if match:
        listing = read_list(clause, match.end())
        end = listing.end
        for spelled in identifiers(listing.values):
            argument = names.known(spelled)
            if argument is None and (held := names.holding(spelled)):
                strange.append(Hint(kind="refused", argument=held))
            elif argument is not None:
                strange.append(Hint(kind="unknown", argument=argument))
        if not strange and fixed and current and names.known(current):
            strange.append(Hint(kind="unknown", argument=current))
    if not strange:
        own = subject(clause, names)
        about = current if fixed and current else own.argument if own else None
        if about and names.known(about) and _NOT_TAKEN.search(own.rest if own else clause):
            return [Hint(kind="unknown", argument=about)]
    if not (strange or before or match or re.search(r"\b(?:arguments|parameters)\b", clause, re.IGNORECASE)):
        return []
    allowed: list[Hint] = []
    words = _ALLOWED.search(clause, end) or (_EXPECTED.search(clause, end) if match and end else None)
    if words and not states_missing(clause):
        listing = read_list(clause, words.end())
        others = [
            names.known(name) or name for name in identifiers(listing.values) if name.lower() not in STOP | {"none"}
        ]
        sure = before or match is not None or all(names.known(name) for name in others)
        if others and listing.whole and sure and len(others) == len(listing.values):
            allowed.append(Hint(kind="allowed", others=tuple(dict.fromkeys(others))))
    return strange + allowed
