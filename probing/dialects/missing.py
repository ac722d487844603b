"""Sentences that say an argument must be given: `missing required parameter: x`, `x is required`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from probing.dialects.clauses import NOUNS, Mention, mentions
from probing.dialects.listing import read_list
from probing.dialects.naming import IDENTIFIER, Names, fold, steps
from probing.hint import Hint

_NOUN = (
    r"(?:arguments?|args?|param(?:eter)?s?|fields?|propert(?:y|ies)|attributes?|keys?|variables?|values?|options?"
    r"|headers?|data)(?:\(s\))?"
)
PLACE = r"(?:(?:request|query|path|body|form|input|url|uri|json|keyword|string|positional|named|post|get)[\s-]+)*"
_MISSING = (
    re.compile((rf"\bmissing\b\s*(?:(?:the|a|an|one|or more|required|mandatory|or empty|or invalid|following"
    rf"|value for)\s+)*{PLACE}(?P<noun>{_NOUN}(?!\w))?(?:\s+in (?:the )?\w+(?: \w+)?)?"
    r"\s*(?P<colon>:)?\s*"), re.IGNORECASE),
    re.compile((rf"\brequired\s+{PLACE}(?P<noun>{_NOUN}(?!\w))(?:\s+(?:is|are|was|were)(?: missing"
    rf"| not \w+)?)?\s*(?P<colon>:)?\s*"), re.IGNORECASE),
    re.compile((rf"\b(?:must|should)\s+(?:have|contain|include)\s+(?:the\s+)?(?:(?:required"
    rf"|mandatory)\s+)?{PLACE}(?P<noun>{_NOUN}(?!\w))(?P<colon>)\s*"), re.IGNORECASE),
    re.compile(r"\bmust contain (?P<noun>)(?P<colon>)(?=[\[{'\"][^\n]{1,300} propert(?:y|ies))", re.IGNORECASE),
    re.compile((rf"\b(?:the following|following)\s+(?:{PLACE}{_NOUN}\s+)?(?:is|are|were)\s+(?:missing|required"
    rf"|mandatory)\s*(?P<noun>)(?P<colon>:)\s*"), re.IGNORECASE),
    re.compile((rf"\b(?:must|please|forgot to|did not|didn't|need to|needs to|have to|has to|required to"
    rf"|should)\s+(?:also\s+)?(?:provide"
    rf"|specify|supply|include|give|pass|set|send|enter)\s+(?:(?:a|an|the|valid|value for|your"
    rf"|both)\s+)*(?P<noun>{_NOUN}\b\s*)?(?P<colon>)"), re.IGNORECASE),
    re.compile((rf"^(?:no|needs?|expected|expects|requires?)\s+(?:(?:a|an|the"
    rf"|value for)\s+)*(?P<noun>{_NOUN}\b\s*)?(?P<colon>)(?=.{{1,60}}\b(?:given|provided|specified|supplied"
    rf"|passed|parameter|argument)\b)"), re.IGNORECASE),
    re.compile(rf"^(?:expected|expects?|needs?|requires?)\s+(?:an?\s+|the\s+)?(?P<noun>{_NOUN})\s+(?P<colon>)"
    r"(?=['\"`])", re.IGNORECASE),
    re.compile(r"^(?:please )?(?:provide|specify|supply|pass|give)\s+(?:both\s+)?(?P<noun>)(?P<colon>)", re.IGNORECASE),
    re.compile(r"^required\s*(?P<noun>)(?P<colon>:)\s*", re.IGNORECASE),
    re.compile(r"\bparam is missing or the value is empty(?P<noun>)(?P<colon>:)\s*", re.IGNORECASE),
)  # fmt: skip
_REQUIRED = re.compile(
    r"(?:^|\b(?:is|are|was|were|field|parameter|argument|property|be|value|and)\s+|[:\-]\s*)(?:also\s+|a\s+"
    r"|an\s+|currently\s+)*"
    r"(?P<word>required|mandatory|obligatory|missing|absent|needed|not (?:provided|given|specified|supplied"
    r"|present|set|sent|defined|included(?! in (?:the )?(?:list|set|enum)))|undefined|unset)\b"
    r"(?! (?:type|format|length|pattern|to be|data))|\b(?:was|is|were|are)n't (?:provided|given|specified"
    r"|supplied|present|set|sent)\b|\breceived:? (?:undefined|nothing)\b|\brequired key not provided\b"
    r"|\bto be provided\b|\bmissing data for required field|\bfield (?:is )?required|^required\b"
    r"|\b(?:must|should|has to|have to|needs? to|can only)(?: always)? be (?:provided|given|specified|supplied"
    r"|present|set|sent|included|passed|defined|non-?empty|filled)\b"
    r"|\b(?:must|should|cannot|can't|can|may|could|shall)(?: not|not)? (?:not )?(?:be|have|is) (?:an? "
    r"|left )?(?P<never>blank|empty|null|omitted|missing|none|undefined|left out|nil)\b"
    r"|\bnot be (?:blank|empty|null|nil|none)\b|\bmust not be (?:blank|empty|null)",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(r"missing or (?:invalid|malformed|incorrect|expired)|invalid or missing", re.IGNORECASE)
_IS_NOTHING = re.compile(r"\bis (?:None|null|undefined|nil)\b[.!]?$")
_NOTHING = re.compile(r"\breceived:? (?:undefined|nothing)\b", re.IGNORECASE)
_NEVER = re.compile(r"\b(?:not|cannot|can't|never)\b", re.IGNORECASE)
_UNLESS = re.compile(
    (
        r"\b(?:when|if|unless|with|without|depending|for)\b(?! (?:this|the) (?:request|operation|field|argument"
        r"|parameter|tool|call)\b| required)"
    ),
    re.IGNORECASE,
)
STOP = frozenset({
    "a", "an", "and", "are", "argument", "arguments", "at", "body", "by", "field", "fields", "for", "from", "in",
    "is", "it", "must", "not", "of", "on", "one", "or", "parameter", "parameters", "required", "some", "that",
    "the", "this", "to", "value", "values", "was", "with",
})  # fmt: skip


def read_missing(clause: str, names: Names, own: Mention | None, current: str | None) -> list[Hint]:
    """The arguments that a clause says must be given. `own`: its subject; `current`: that of the clause before."""
    found = _listed(clause, names) or _required(clause, names, own, current)
    if len(found) > 1 and re.search(r"\bor\b|\bone of\b", clause, re.IGNORECASE):
        return []  # one of them is enough
    if re.search(r"\bvalid\b[\w -]{0,40}\b(?:is|are) required", clause, re.IGNORECASE):
        found = [name for name in found if names.sent.get(name) in (None, "")]  # a valid one is, this is none
    if not found and own and _IS_NOTHING.search(clause) and names.sent.get(own.argument) is None:
        found = [own.argument]
    given = {name for name in found if names.sent.get(name) not in (None, "")}
    if given:  # of what was sent, such a sentence says how to give it, or that it is no good
        return [Hint(kind="refused", argument=name) for name in found if name in given and _DOUBTFUL.search(clause)]
    return [Hint(kind="missing", argument=name) for name in found]


def lacks_inside(clause: str, own: Mention | None) -> bool:
    """`body/address must have required property 'city'`: it is missing inside the value of an argument."""
    match = _MISSING[2].search(clause)
    return match is not None and own is not None and own.end <= match.start()


def _listed(clause: str, names: Names) -> list[str]:
    """The names after `missing required parameter:` and its like."""
    for words in _MISSING:
        if match := words.search(clause):
            found = list(_names_at(clause, match.end(), names, sure=bool(match["colon"]), noun=bool(match["noun"])))
            if found:
                return list(dict.fromkeys(found))
    return []


def _required(clause: str, names: Names, own: Mention | None, current: str | None) -> list[str]:
    """The arguments of which a clause says that they are required, or must not be left out."""
    rest = own.rest.lstrip() if own else clause
    required = _REQUIRED.search(rest)
    if required is None or (required["never"] and not _NEVER.search(required[0])):
        return []
    found = list(dict.fromkeys(_subjects(clause, names, own, required) or ([current] if current else [])))
    condition = _UNLESS.search(rest[required.end() :])
    if condition and {mention.argument for mention in mentions(clause, names)} - set(found):
        return []  # required in some cases only
    return [] if re.search(r"\b(?:either|one of)\b", clause, re.IGNORECASE) else found


def _subjects(clause: str, names: Names, own: Mention | None, required: re.Match[str]) -> list[str]:
    """The arguments before `is required`: those known, and others where quotes or their noun show them to be names."""
    if own is not None:
        before = mentions(clause[: clause.find(own.rest) + required.start()], names) if own.rest != clause else []
        listed = [m.argument for m in before if re.search(r"(?:,|\band\b|&)", clause)]
        return list(dict.fromkeys(listed)) or [own.argument]
    head = clause[: required.start()].strip(" :")
    if placed := re.search(
        r"(?:^|\s)(?:body|query|path|params|headers|data|querystring)[./]([A-Za-z_$][\w$\-]{0,79})$", head
    ):
        return [placed[1]]
    match = re.search(
        (rf"(?:^|\s)(?:{_NOUN}\s+)?['\"`]([A-Za-z_$][\w$\-]{{0,79}})['\"`](?:\s+{_NOUN})?$|(?:^|\b(?:argument"
        rf"|parameter|param|field|property)\s+)(?:the\s+)?([A-Za-z_$][\w$\-]{{0,79}})(?:\s+(?:field|parameter"
        rf"|argument|property))?$"),
        head, re.IGNORECASE,
    )  # fmt: skip
    if match is None:
        return []
    spelled = match[1] or match[2]
    noun = re.search(rf"\b{_NOUN}\b", clause[: required.end() + 20], re.IGNORECASE) is not None
    certain = bool(match[1]) or noun or _code_like(spelled)
    taken = spelled.lower() in STOP | NOUNS or names.holding(spelled) is not None
    return [spelled] if certain and not taken else []


def _names_at(clause: str, position: int, names: Names, *, sure: bool, noun: bool) -> Iterable[str]:
    """The arguments listed at a position: those known, and others that certainly are names."""
    listing = read_list(clause, position)
    for spelled in listing.values:
        if not isinstance(spelled, str):
            return
        plain = spelled.lstrip("-:$")
        if argument := names.known(plain) or _by_path(plain, names):
            if plain.lower() in STOP and not listing.quoted and not sure:
                return
            yield argument
        elif not IDENTIFIER.fullmatch(plain) or plain.lower() in STOP:
            return
        elif (
            (listing.quoted and (sure or noun))
            or (sure and not listing.quoted and noun)
            or (noun and _code_like(plain))
            or (sure and _code_like(plain))
        ):
            yield plain
        else:
            return


def _by_path(spelled: str, names: Names) -> str | None:
    found = names.at(steps(spelled)) if re.search(r"[.\[/]", spelled) else None
    return found.argument if found and found.known else None


def _code_like(name: str) -> bool:
    return "_" in name or re.search(r"[a-z][A-Z]", name) is not None or (fold(name) != name.lower() and "-" not in name)


def received_nothing(clause: str) -> bool:
    """`expected string, received undefined`: what was expected says nothing of the value then."""
    return _NOTHING.search(clause) is not None


def states_missing(clause: str) -> bool:
    """Whether a clause is about something that was not given."""
    return _MISSING[0].search(clause) is not None or _REQUIRED.search(clause) is not None
