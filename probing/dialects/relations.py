"""What a clause says of several arguments at once: not together, or only together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from probing.dialects.clauses import Mention
from probing.hint import Hint

_VERBS = "used|combined|given|specified|provided|set|present|supplied|passed|sent|mixed"
_GIVEN = rf"(?:{_VERBS})"
_ALONG = r"(?:together |along |in combination |only )?"
_THE = r"(?:the\s+|a\s+|an\s+)?(?:(?:argument|parameter|field|property)\s+)?"
_EITHER = re.compile(
    r"\bmutually exclusive\b|\bnot both\b|\bnot (?:all|more than one)\b|\b(?:only|exactly|at most) one of\b"
    r"|\bboth (?:\S+ ){1,4}(?:cannot|can't|must not|may not)\b"
    r"|\b(?:cannot|can't|can not|must not|may not|do not|don't|not)\s+(?:be\s+)?"
    rf"(?:specify|use|combine|provide|give|set|pass|mix|send|{_VERBS})"
    r"\s+(?:both\b|together|at the same time|simultaneously)"
    r"|\bexclude each other\b|\b(?:cannot|can't|must not|may not) both be\b|\bonly \S{1,60} or \S{1,60} (?:can|may)\b"
    r"|\bexclusive (?:peers|arguments|parameters)|\bare exclusive\b|\b(?:only one|just one) (?:can|may|is)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    rf"\b(?:cannot|can't|can not|must not|may not|should not|not) be {_GIVEN}"
    rf"\s+{_ALONG}(?:with|when|if|alongside|and)\b"
    r"|\bconflicts? with\b|\bincompatible with\b|\bexcludes\b|\bprohibits\b"
    r"|\bnot (?:allowed|permitted|valid|compatible|supported) (?:together )?(?:with|when|if)\b"
    r"|\b(?:prohibited|forbidden) (?:when|if|with)\b",
    re.IGNORECASE,
)
_ASKED = r"(?:required|must|given|specified|provided|supplied|needed|mandatory|present|set|missing)"
_ANY = re.compile(
    rf"\b(?:at least|exactly) one of\b.{{1,300}}\b{_ASKED}\b|\bcontain at least one of\b|\bneither\b.{{1,200}}\bnor\b"
    r"|\b(?:required|missing|provide|specify|supply|give|pass):? (?:at least |exactly )?one of\b"
    rf"|\beither\b.{{1,200}}\bor\b.{{1,200}}\b(?:{_ASKED}|has to be)\b"
    r"|(?:^|please |must |to )(?:give|provide|specify|supply|pass) (?:either )?\S{1,60} or \S{1,60}$"
    rf"|\S{{1,60}} or \S{{1,60}} (?:(?:is|are|was|must be|should be|has to be) )+{_ASKED}\b",
    re.IGNORECASE,
)
_BOTH = re.compile(
    rf"\b(?:must|should|have to|need to|can only|may only)(?: both| all)? be {_GIVEN}"
    r"\s+(?:together(?! with\b)|as a pair|at the same time|in combination)\b"
    r"|\bare required together\b|\bgo together\b|\bboth or neither\b|\b(?:all|both) or none\b"
    r"|\bboth .{1,60}\bare required if (?:either|one)\b",
    re.IGNORECASE,
)
_NEEDS = re.compile(
    rf"\b(?:requires?|needs?|depends on|presumes)\s+(?:that\s+)?{_THE}$"
    rf"|\b(?:must|should|has to) be {_GIVEN}\s+{_ALONG}(?:with|alongside)\s+{_THE}$"
    rf"|\b(?:can|may|must) only be {_GIVEN}\s+{_ALONG}(?:with|when|if|alongside)\s+{_THE}$"
    r"|\bis only (?:valid|allowed|supported|permitted|used|meaningful|available|accepted) "
    rf"(?:together )?(?:with|when|if)\s+{_THE}$"
    rf"|\b(?:cannot|can't|must not|may not|not) be {_GIVEN}\s+without\s+{_THE}$"
    rf"|\b(?:given|specified|set|used|sent|provided|allowed|valid)\s+without\s+{_THE}$"
    rf"|\baccompanied by\s+{_THE}$|\bmissing required peer\s+$|\bonly (?:works|makes sense"
    rf"|applies) (?:together )?(?:with|when|if)\s+{_THE}$",
    re.IGNORECASE,
)
_PRESENT = (
    r"(?:\s+(?:is|are|was|were|has been))?\s+(?:present|given|set|specified|provided|used|supplied|passed|sent"
    r"|not (?:null|empty))\b"
)
_WHEN = re.compile(
    r"\b(?:is|are|be|field is) (?:also )?required (?:when|if|with|together with|for|as soon as)\s+(?:the\s+)?$"
    rf"|\bmust (?:also )?be {_GIVEN} (?:when|if|whenever)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_WITHOUT = re.compile(r"\W*[\w\-]{1,60}\W{1,3}without\W{1,3}[\w\-]{1,60}\W*", re.IGNORECASE)
_IF = re.compile(r"^(?:when|if|whenever)\s+(?:the\s+)?(?:(?:argument|parameter|field)\s+)?$", re.IGNORECASE)
_PROPERTY = re.compile(r"\bmust have propert(?:y|ies) .{1,200} when property .{1,90} is present", re.IGNORECASE)


def read_relation(clause: str, said: Sequence[Mention], current: str | None) -> list[Hint]:
    """Rules of *exclusive* and *together*; empty where the clause states none of two arguments that are known."""
    if (bare := _WITHOUT.fullmatch(clause)) and len(said) == 2:
        return [Hint(kind="together", argument=said[0].argument, others=(said[1].argument,))] if bare else []
    order = list(dict.fromkeys(m.argument for m in said))
    if len(order) < 2 and not (order and current and order[0] != current):
        return []
    if len(clause) > 1000:
        return []
    whole = order if len(order) > 1 else [current or "", *order]
    if len(order) > 1 and _ANY.search(clause) and _all_named(clause, said):
        apart = _EITHER.search(clause) or re.search(r"\bexactly one\b", clause, re.IGNORECASE)
        return [Hint(kind="any_of", others=tuple(order)), *(_apart(_groups(clause, said)) if apart else ())]
    if _EITHER.search(clause):
        return _apart(_groups(clause, said)) if len(order) > 1 else _each("exclusive", whole)
    if _BOTH.search(clause):
        return _each("together", whole)
    first = order[0] if len(order) > 1 else current or ""
    if (against := _AGAINST.search(clause)) and said[-1].start >= against.end() - 1:
        before = [m.argument for m in said if m.start < against.start()] or [first]
        after = [m.argument for m in said if m.start >= against.start() and m.argument not in before]
        if current in after and len(before) == len(after) == 1:
            before, after = after, before
        if after:
            return [Hint(kind="exclusive", argument=one, others=_distinct(after)) for one in _distinct(before)]
        return []
    return _dependence(clause, said, current)


def _dependence(clause: str, said: Sequence[Mention], current: str | None) -> list[Hint]:
    if _PROPERTY.search(clause):
        split = clause.lower().index(" when property ")
        needed = [m.argument for m in said if m.start < split]
        having = [m.argument for m in said if m.start > split]
        return [Hint(kind="together", argument=having[0], others=tuple(needed))] if having and needed else []
    for index, mention in enumerate(said):
        before = clause[: mention.start].rstrip("'\"`‘“")
        if _NEEDS.search(before):
            owner = said[index - 1].argument if index else current
            others = _run(clause, said[index:])
            if owner and owner not in others:
                return [Hint(kind="together", argument=owner, others=tuple(others))]
        if _WHEN.search(before):
            needed_one = said[0].argument if index else current
            if needed_one is None or needed_one == mention.argument:
                continue
            if _always(clause[mention.end :]):
                return [Hint(kind="together", argument=mention.argument, others=(needed_one,))]
            return [Hint(kind="refused", argument=needed_one)]
        if index == 0 and _IF.search(before):
            rest = clause[mention.end :]
            if (
                re.match(r"['\"`]?" + _PRESENT, rest, re.IGNORECASE)
                and len(said) > 1
                and re.search(r"required|must|need", rest, re.IGNORECASE)
            ):
                if re.search(r"\b(?:must not|cannot|can't)\b", rest):
                    return [Hint(kind="exclusive", argument=mention.argument, others=(said[1].argument,))]
                return [Hint(kind="together", argument=mention.argument, others=(said[1].argument,))]
    return []


def _always(rest: str) -> bool:
    """Whether the condition is that an argument is there at all, not that it has some value."""
    return (
        re.fullmatch(rf"['\"`]?(?:{_PRESENT})?(?: (?:field|argument|parameter))?\W*", rest, re.IGNORECASE) is not None
    )


def _run(clause: str, said: Sequence[Mention]) -> list[str]:
    """The arguments that stand in a row: `a, b and c`."""
    found = [said[0].argument]
    for left, right in pairwise(said):
        if not re.fullmatch(r"['\"`]?\s*(?:,|and|,\s*and|&)\s*['\"`]?", clause[left.end : right.start]):
            break
        found.append(right.argument)
    return found


def _all_named(clause: str, said: Sequence[Mention]) -> bool:
    """Whether the arguments stand in one row, so that none that is not known stands between them."""
    return all(
        re.fullmatch(
            r"['\"`\])]*\s*(?:,|or|and|nor|/|\||,\s*or|,\s*and)\s*['\"`\[(]*", clause[a.end : b.start], re.IGNORECASE
        )
        for a, b in pairwise(said)
    )


def _groups(clause: str, said: Sequence[Mention]) -> list[list[str]]:
    """The arguments as they belong together: `lat/lon` and `city`; `lat and lon` or `city`."""
    groups: list[list[str]] = [[said[0].argument]]
    between = [clause[left.end : right.start].strip(" '\"`").lower() for left, right in pairwise(said)]
    joining = {"/", "+"} | ({"and", "&"} if "or" in between else set())
    for words, mention in zip(between, said[1:], strict=True):
        if words in joining:
            groups[-1].append(mention.argument)
        else:
            groups.append([mention.argument])
    return groups


def _apart(groups: list[list[str]]) -> list[Hint]:
    found = []
    for group in groups:
        others = _distinct(name for other in groups if other is not group for name in other if name not in group)
        found += [Hint(kind="exclusive", argument=name, others=others) for name in _distinct(group) if others]
    return found


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _each(kind: str, names: Iterable[str]) -> list[Hint]:
    row = list(dict.fromkeys(names))
    return [
        Hint(kind=kind, argument=name, others=tuple(other for other in row if other != name))  # type: ignore[arg-type]
        for name in row
    ]
