"""A text in clauses, and which argument each is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from probing.dialects.naming import Names, steps

MAX_TEXT = 4_000  # characters of one message
MAX_CLAUSES = 40
NOUNS = frozenset({
    "arg", "argument", "arguments", "attribute", "attributes", "column", "field", "fields", "flag", "header",
    "input", "key", "keyword", "option", "param", "parameter", "parameters", "params", "path", "properties",
    "property", "query", "variable",
})  # fmt: skip
_MEASURES = frozenset(
    {"count", "difference", "interval", "length", "number", "range", "size", "span", "total", "window"}
)
_OBLIGING = frozenset({"can't", "cannot", "must", "should"})
_SIGNS = ("=", "<", ">", "≤", "≥", "∈")
_FAULTY = frozenset(
    {"bad", "illegal", "incorrect", "invalid", "malformed", "missing", "no", "unknown", "unsupported", "wrong"}
)
_LEADS = frozenset({
    "a", "an", "bad", "for", "illegal", "in", "incorrect", "invalid", "malformed", "missing", "of", "required",
    "selected", "the", "unsupported", "value", "wrong", "your",
})  # fmt: skip
_PREDICATES = frozenset({
    "accept", "accepts", "allows", "are", "argument", "as", "can", "can't", "cannot", "contains", "could", "couldn't",
    "default", "defaults", "did", "does", "doesn't", "exceeded", "exceeds", "expected", "expects", "field",
    "format", "had", "has", "have", "if", "invalid", "is", "isn't", "length", "may", "might", "missing", "must",
    "need", "needs", "not", "only", "out", "parameter", "parameters", "property", "require", "required", "requires",
    "shall", "should", "supports", "takes", "too", "unknown", "value", "was", "were", "when",
})  # fmt: skip
_JOINING = frozenset({"and", "both", "either", "give", "or", "pass", "specify", "use", "with", "without"})
COMMON = frozenset({
    "a", "all", "an", "and", "any", "as", "at", "be", "but", "by", "do", "for", "from", "go", "has", "i", "if",
    "in", "is", "it", "me", "my", "no", "not", "of", "on", "or", "out", "so", "than", "that", "the", "then", "this",
    "to", "up", "us", "was", "with",
})  # fmt: skip
_PROTECTED = re.compile(
    r"(?<!\w)'[^'\n]{0,200}'(?!\w)|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|\[[^\[\]\n]{0,500}\]|\([^()\n]{0,300}\)"
    r"|/\^[^\n/]{1,200}/|\^[^\n]{1,200}?\$(?=\s|$)"
)
_BREAK = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\beg)(?<!\bvs)(?<!\bex)(?<!\.\.)[.!?]\s+|;\s+|\n+|\s[—–]\s+|\s\|\s(?=\w+:)"
    r"|,\s+(?=(?:data|body|querystring|query|params|headers|instance)[/.\[]\w)"
)
_TOKEN = re.compile(
    r"['\"`‘“]([\w$.\-\[\]/@]{1,80})['\"`’”]|(?<![\w.])([A-Za-z_$][\w$\-']{0,60}(?:[.\[][\w$\-]{1,60}\]?){0,6})"
)
_TRIGGER = re.compile(
    (
        r"\b(?:one of|must|should|expected|allowed|valid (?:values|options|choices)|choose|permitted|either"
        r"|such as|e\.g)\b"
    ),
    re.IGNORECASE,
)
_SPACES = re.compile(r"(\s{4})\s+")
_UNDER = re.compile(r"\n\s*(?:→|->)\s*at\s+")
_PLACED = re.compile(
    (
        r"^at (?:path|key|field):?\s*([^\s:]{1,80}?)\s*(?:--|:|-)\s+|\s*(?:@|\b-?\s*at)\s+[`'\"]?((?:\$|data"
        r"|/)?[.\[/]?[\w$.\-\[\]'\"/]{1,80}?)[`'\"]?\s*[.)]?$"
    ),
    re.IGNORECASE,
)
_OF = re.compile(
    r"\b(?:for|of|in|at|argument|parameter|param|field|property|attribute|header)\s+(?:the\s+)?(?:(?:query"
    r"|path|body|request|input)\s+)?(?:(?:argument|parameter|param|field|property|key|attribute)\s+)?"
    r"['\"`]?([A-Za-z_$][\w$.\-\[\]]{0,80})['\"`]?", re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mention:
    """A word of a clause that names an argument, and where it stands."""

    argument: str
    start: int
    end: int
    quoted: bool = False
    rest: str = ""
    """Of a clause's subject: what the clause says of it."""


def clauses(text: str) -> Iterator[str]:
    """The sentences of a text, and their parts at semicolons; nothing within quotes or brackets is cut."""
    text = _SPACES.sub(r"\1", text[:MAX_TEXT])  # long runs of spaces are tried at each of their places
    text = _UNDER.sub(" @ ", text)  # zod puts the place on a line of its own
    spans = [match.span() for match in _PROTECTED.finditer(text)]
    start = index = count = 0
    for match in _BREAK.finditer(text):
        while index < len(spans) and spans[index][1] <= match.start():
            index += 1
        if index < len(spans) and spans[index][0] <= match.start() < spans[index][1]:
            continue
        if piece := text[start : match.start()].strip():
            yield piece
            count += 1
            if count >= MAX_CLAUSES:
                return
        start = match.end()
    if piece := text[start:].strip():
        yield piece


def mentions(clause: str, names: Names) -> list[Mention]:
    """Every argument that a clause names, in order. Common English words count in quotes only, or behind *argument*."""
    found = []
    tokens = list(_TOKEN.finditer(clause[:1500]))[:80]
    for index, token in enumerate(tokens):
        quoted = token[1] is not None
        spelled = token[1] or token[2]
        argument = (
            names.known(spelled)
            or (_plural(spelled, names) if not quoted else None)
            or (_in_path(spelled, names) if re.search(r"[.\[/]", spelled) else None)
        )
        if argument is None and not quoted:
            joined = _joined(tokens, index, names)
            if joined:
                found.append(Mention(joined[0], token.start(), joined[1]))
            continue
        if argument is None or (not quoted and spelled.lower() in COMMON and not _is_named(tokens, index)):
            continue
        found.append(Mention(argument, token.start(), token.end(), quoted))
    return found


def subject(clause: str, names: Names) -> Mention | None:
    """The argument that a clause is about; `None` where it does not say so by its grammar."""
    if placed := _PLACED.search(clause[:1500]):
        spelled = placed[1] or placed[2]
        argument = names.known(spelled) or _in_path(spelled, names)
        if argument:
            rest = clause[placed.end() :] if placed[1] else clause[: placed.start()]
            return Mention(argument, placed.start(), placed.end(), rest=rest)
    tokens = list(_TOKEN.finditer(clause[:600]))[:40]
    words = [(token[1] or token[2]).lower() for token in tokens]
    trigger = _TRIGGER.search(clause)
    limit = trigger.start() if trigger else len(clause)
    found = {mention.start: mention for mention in mentions(clause, names)}
    for index, token in enumerate(tokens):
        if token.start() >= max(limit, 1):
            break
        mention = found.get(token.start())
        if mention is None:
            if index == 0 and words[0] in COMMON and names.known(words[0]) and words[1:2] and words[1] in _PREDICATES:
                return Mention(names.known(words[0]) or "", token.start(), token.end(), rest=clause[token.end() :])
            continue
        after = clause[mention.end :].lstrip()
        following = _TOKEN.match(after)
        follows = (following[1] or following[2]).lower() if following else ""
        behind = index > 0 and words[index - 1] in NOUNS
        led = index == 0 or words[index - 1] in _LEADS
        far = (
            index + 2 < len(words) and words[index + 2] in _OBLIGING and words[index + 1] not in _MEASURES
        )  # `sort order must be …`
        faulty = index > 0 and words[index - 1] in _FAULTY and after[:1] in ("'", '"', "`", ":", ",", "(", ".", "!", "")
        if (
            mention.quoted
            or behind
            or (follows in _PREDICATES)
            or follows in NOUNS
            or after[:1] in (":", *_SIGNS)
            or (led and not after)
            or faulty
            or far
        ):
            # `…: limit=500` quotes what was sent; what is wrong with it stands before. `1 <= limit <= 50` is a whole.
            if mention.start > 0 and after[:1] in _SIGNS:
                return replace(mention, rest=clause if after[0] != "=" else clause[: mention.start])
            return replace(mention, rest=clause[mention.end :])
    for match in _OF.finditer(clause):
        spelled = match[1].rstrip(".")
        argument = names.known(spelled) or _in_path(spelled, names)
        if argument and spelled.lower() not in COMMON:
            return Mention(argument, match.start(1), match.end(), rest=clause)
    told = {mention.argument for mention in found.values()}
    if len(told) == 1 and "_" in next(iter(told)):  # no word of English
        return replace(next(iter(found.values())), rest=clause)
    return None


def blamed(clause: str, names: Names) -> str | None:
    """The one argument whose sent value a clause quotes, as it is or at the end of a path, or begins with."""
    for match in re.finditer(
        r"(?<!\w)'([^'\n]{1,200})'(?!\w)|\"([^\"\n]{1,200})\"|`([^`\n]{1,200})`|‘([^’\n]{1,200})’|“([^”\n]{1,200})”",
        clause,
    ):
        said = next(group for group in match.groups() if group)
        if argument := names.holding(said) or names.ending(said):
            return argument
    first = re.match(r"[^\s:,;]{1,80}", clause)
    if first and (argument := names.holding(first[0])):
        return argument
    last = re.search(r"(?::|\bvalue|\bgot|\breceived|\bwith key|=)\s*([^\s:]{1,80}?)[.!]?$", clause)
    return names.holding(last[1]) if last else None


def _in_path(spelled: str, names: Names) -> str | None:
    found = names.at(steps(spelled))
    return found.argument if found and found.known and not found.nested else None


def _plural(spelled: str, names: Names) -> str | None:
    """`Dates are given as …` of the argument `date`."""
    return names.known(spelled[:-1]) if len(spelled) > 3 and spelled.endswith("s") else None


def _joined(tokens: list[re.Match[str]], index: int, names: Names) -> tuple[str, int] | None:
    """`Start date` of `start_date`: an argument's name in words of their own."""
    for size in (3, 2):
        part = tokens[index : index + size]
        if len(part) < size or not all(t[2] for t in part) or part[-1].end() - part[0].start() > 80:
            continue
        if argument := names.known("_".join(t[2] for t in part)):
            return argument, part[-1].end()
    return None


def _is_named(tokens: list[re.Match[str]], index: int) -> bool:
    """Whether a common word stands where only a name can: `argument to`, `use from or date`, `from is not …`."""
    before = (tokens[index - 1][2] or "").lower() if index else ""
    after = (tokens[index + 1][2] or "").lower() if index + 1 < len(tokens) else ""
    if before in NOUNS:
        return True
    opens = not index or before in _JOINING
    return opens and (after in ("or", "and") or (not index and after in _PREDICATES) or (bool(before) and not after))
