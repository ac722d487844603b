"""English error sentences, clause by clause."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from probing.dialects.clauses import Mention, blamed, clauses, mentions, subject
from probing.dialects.errno import read_errno
from probing.dialects.listing import read_list
from probing.dialects.missing import lacks_inside, read_missing, received_nothing
from probing.dialects.naming import Names
from probing.dialects.nowhere import leads_nowhere
from probing.dialects.relations import read_relation
from probing.dialects.sources import read_source
from probing.dialects.unknown import read_unknown, speaks_of_unknown
from probing.dialects.wanted import wanted, without_value
from probing.hint import Hint
from protocols.jsontypes import Json
from protocols.reply import one_line

_FAULT = re.compile(
    (
        r"\b(?:invalid|not valid|not a valid|not a multiple|not divisible|not appear|isn't valid|illegal|malformed"
        r"|wrong|expired|incorrect|unacceptable"
        r"|not allowed|not permitted|out of range|unsupported|not supported|unparsable|not parse|unable to parse"
        r"|outside|denied|must|should|unrecogni[sz]ed|not accepted|be parsed|be converted|failed"
        r"|too (?:long|short|large|small"
        r"|big|high|low|many|few)|bad)\b"
    ),
    re.IGNORECASE,
)


_ENGLISH = re.compile(
    r"\b(?:the|is|are|must|be|not|of|to|with|value|invalid|error|failed|bad|and|should)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Context:
    """What is known besides the words: the arguments, the tool called, HTTP's status."""

    names: Names
    tool: str = ""
    status: int | None = None


def read_text(text: str, context: Context, *, argument: str | None = None) -> list[Hint]:
    """What a message says. `argument`: the one that its place in the reply names; else the words must name it."""
    hints: list[Hint] = []
    current, named = argument, speaks_of_unknown(text)
    for clause in clauses(text):
        found, own = _read_clause(clause, context, current, fixed=argument is not None, unknown=named)
        named = named or any(hint.kind == "unknown" for hint in found)
        said = one_line(without_value(clause), limit=200)
        hints += [replace(hint, text=said) for hint in found]
        current = own or current
    return hints


def _read_clause(
    clause: str, context: Context, current: str | None, *, fixed: bool, unknown: bool
) -> tuple[list[Hint], str | None]:
    """The hints of one clause, and the argument it is about, which the next clause may go on about."""
    names = context.names
    said = mentions(clause, names)
    if related := read_relation(clause, said, current):
        return related, current
    if strange := read_unknown(clause, names, current, fixed=fixed, before=unknown):
        return strange, None
    own = subject(clause, names)
    if own and names.known(own.argument) and lacks_inside(clause, own):
        return [Hint(kind="refused", argument=own.argument)], own.argument
    missing = read_missing(clause, names, own, current)
    if missing and received_nothing(clause):
        return missing, missing[0].argument
    asked = missing[0].argument if len({hint.argument for hint in missing}) == 1 else None
    if fixed and asked and asked != current and names.sent.get(current or "") is not None:
        # Of an argument that was given: `{"from": "field 'to' is required"}`.
        return [Hint(kind="together", argument=current, others=(asked,))], current
    about = current if fixed and current else own.argument if own else None
    source = read_source(clause, names, about or current, tool=context.tool)
    found = [*missing, source] if source else [*missing]
    about = about or asked or blamed(clause, names)
    gone = None if missing else leads_nowhere(clause, names, about, lost=context.status in (404, 410))
    if gone:
        listed = _constraints(clause, names, gone, own, said, fixed=fixed)
        told = [hint for hint in listed if hint.kind in ("enum", "example")]
        return [*found, *(told or [Hint(kind="not_found", argument=gone)])], gone
    carried = about or (current if _goes_on(clause) else None)
    if carried is None and len(names.arguments) == 1 and names.sent:
        carried = names.arguments[0]
    if carried:
        wanted_here = _constraints(clause, names, carried, own, said, fixed=fixed)
        formless = bool(missing) and not re.search(r"\bvalid\b|\bformat\b", clause, re.IGNORECASE)
        found += [hint for hint in wanted_here if not (formless and hint.kind == "format")]
    telling = [hint for hint in found if hint.kind not in ("example", "default", "source")]
    if not telling and about and names.known(about) and (not found or names.sent.get(about) is not None):
        found += _at_least(clause, about, names, fixed=fixed)
    if not found:
        found = read_errno(clause, names)
    return found, about


def _at_least(clause: str, argument: str, names: Names, *, fixed: bool) -> list[Hint]:
    """Of a clause in words that are not known: the values it lists, or that it refuses the argument."""
    if listed := _in_any_language(clause, names.sent.get(argument)):
        return [replace(listed, argument=argument)]
    return [Hint(kind="refused", argument=argument)] if fixed or _FAULT.search(clause) else []


def _constraints(
    clause: str, names: Names, argument: str, own: Mention | None, said: list[Mention], *, fixed: bool
) -> list[Hint]:
    if not names.known(argument):
        return []
    rest = own.rest if own and own.argument == argument else clause
    if fixed and len(re.sub(r"^[\s:,(]*(?:received|got)\b.*", "", rest, flags=re.IGNORECASE).strip(" .!")) < 2:
        rest = clause  # `Invalid email` of the argument `email`
    given = names.sent.get(argument)
    others = {mention.argument for mention in said} - {argument}
    condition = re.search(r"\b(?:when|if|unless|depending on)\b", rest, re.IGNORECASE)
    if (
        condition
        and others
        and any(m.start > clause.find(rest) + condition.start() for m in said if m.argument in others)
    ):
        return []  # it holds in some cases only
    found = wanted(rest, argument=argument, given=given)
    if not found and own and own.argument == argument and own.start > 0:  # `failed to parse int parameter [limit]`
        found = [hint for hint in wanted(clause, argument=argument, given=given) if hint.kind != "format"]
    return [replace(hint, argument=argument) for hint in found]


def _in_any_language(clause: str, given: Json) -> Hint | None:
    """`'art' muss einer der folgenden Werte sein: kurz, lang`: a row of words at the end, where a value was refused."""
    before, colon, after = clause.rpartition(": ")
    listing = read_list(after)
    ended = not after[listing.end :].strip(" .!")
    words = [v for v in listing.values if isinstance(v, str) and re.fullmatch(r"[\w\-]{1,40}", v)]
    if given is None or not colon or not ended or len(words) < max(2, len(listing.values)) or given in words:
        return None
    return Hint(kind="example" if _ENGLISH.search(before) else "enum", values=listing.values)


def _goes_on(clause: str) -> bool:
    """Whether a clause without a subject of its own speaks of the one before: `it must be …`, `expected …`."""
    return (
        re.match(
            (
                r"\W*(?:it|this|value|the (?:\w+ )?value|values|valid|allowed|permitted|supported|accepted"
                r"|expected|possible|available|must|should|use|default|defaults|e\.g|for example|examples?|such as"
                r"|choose|format|please|try|one of|min|max|length|input|number|string|range|options|choices|a |an )"
            ),
            clause,
            re.IGNORECASE,
        )
        is not None
    )
