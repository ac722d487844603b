"""Fixed sentences of languages and frameworks: Python, Spring, Go, Rust, GraphQL, AWS, argparse …"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from probing.dialects.formats import read_format
from probing.dialects.java import dotnet, named_hints, spring_missing, spring_type
from probing.dialects.listing import read_list, scalar
from probing.dialects.naming import IDENTIFIER, Names, identifiers, steps
from probing.dialects.wanted import wanted
from probing.hint import Hint
from protocols.reply import one_line

_Q = r"(?:'([^'\n]{0,200})'|\"([^\"\n]{0,200})\")"
Reader = Callable[[re.Match[str], Names], list[Hint]]


def read_frameworks(text: str, names: Names) -> tuple[list[Hint], str]:
    """The hints of the sentences that are known, and the text without them."""
    hints: list[Hint] = []
    for pattern, reader in _SENTENCES:
        rest: list[str] = []
        position = 0
        for match in pattern.finditer(text):
            found = reader(match, names)
            if found:
                hints += [replace(hint, text=one_line(match[0], limit=200)) for hint in found]
                rest.append(text[position : match.start()])
                position = match.end()
        text = "\n".join([*rest, text[position:]]) if rest else text
    return hints, text


def read_signature(text: str, names: Names) -> list[Hint]:
    """What a Python TypeError says of the arguments of a call, wherever it stands in a text."""
    found: list[Hint] = []
    for pattern, reader in _SENTENCES[:2]:
        for match in pattern.finditer(text[:20_000]):
            found += [replace(hint, text=one_line(match[0], limit=200)) for hint in reader(match, names)]
    return found


def _missing_list(match: re.Match[str], names: Names) -> list[Hint]:
    return named_hints("missing", identifiers(read_list(match[1]).values), names)


def _missing_one(match: re.Match[str], names: Names) -> list[Hint]:
    spelled = next(group for group in match.groups() if group)
    return named_hints("missing", [spelled] if IDENTIFIER.fullmatch(spelled) or names.known(spelled) else [], names)


def _unexpected(match: re.Match[str], names: Names) -> list[Hint]:
    return named_hints("unknown", [next(group for group in match.groups() if group)], names)


def _unknown_then_allowed(match: re.Match[str], names: Names) -> list[Hint]:
    """`unknown field x, expected one of a, b` of serde and botocore."""
    others = [names.known(name) or name for name in identifiers(read_list(match[2]).values)]
    allowed = [Hint(kind="allowed", others=tuple(dict.fromkeys(others)))] if others else []
    return named_hints("unknown", [match[1]], names) + allowed


def _by_value(*given: Hint) -> Reader:
    """The sentence quotes the value: it is about the argument that was sent with it."""

    def read(match: re.Match[str], names: Names) -> list[Hint]:
        value = next((group for group in match.groups() if group is not None), None)
        argument = names.holding(value.replace("\\'", "'")) if value is not None else None
        if argument is None and len(names.arguments) == 1 and names.sent:
            argument = names.arguments[0]
        return [replace(hint, argument=argument) for hint in given] if argument else []

    return read


def _strptime(match: re.Match[str], names: Names) -> list[Hint]:
    value, form = match[1] or match[2] or "", match[3] or match[4] or ""
    argument, hint = names.holding(value), read_format(form)
    return [replace(hint, argument=argument)] if argument and hint else []


def _isoformat(match: re.Match[str], names: Names) -> list[Hint]:
    argument = names.holding(match[1] or match[2] or "")
    if argument is None:
        return []
    return [Hint(kind="format", format="date-time" if "time" in argument.lower() else "date", argument=argument)]


def _key_error(match: re.Match[str], names: Names) -> list[Hint]:
    key = match[1] or match[2] or ""
    known = names.known(key)
    if known and names.sent.get(known) is None:
        return [Hint(kind="missing", argument=known)]
    held = names.holding(key)
    return [Hint(kind="not_found", argument=held)] if held and not known else []


def _aws(match: re.Match[str], names: Names) -> list[Hint]:
    place = names.at((match[1],) if names.known(match[1]) else steps(match[1]))
    if place is None or place.nested:
        return []
    if re.search(r"must not be null", match[2], re.IGNORECASE):
        return [Hint(kind="missing", argument=place.argument)]
    if not place.known:
        return []
    found = [replace(hint, argument=place.argument) for hint in wanted(match[2], given=names.sent.get(place.argument))]
    return found or [Hint(kind="refused", argument=place.argument)]


def _go_validator(match: re.Match[str], names: Names) -> list[Hint]:
    argument = names.known(match[1])
    if argument is None:
        return []
    tag = match[2].lower()
    if tag == "required":
        return [Hint(kind="missing", argument=argument)]
    form = {"email": "email", "url": "uri", "uri": "uri", "ipv4": "ipv4", "ipv6": "ipv6"}.get(tag) or (
        "uuid" if tag.startswith("uuid") else ""
    )
    return [Hint(kind="format", format=form, argument=argument) if form else Hint(kind="refused", argument=argument)]


def _graphql(match: re.Match[str], names: Names) -> list[Hint]:
    argument = names.known(match[1])
    return [replace(hint, argument=argument) for hint in _of_graphql(match[2])] if argument else []


def _of_graphql(name: str) -> list[Hint]:
    kind = {"Int": "integer", "Float": "number", "Boolean": "boolean", "String": "string"}.get(name)
    return [Hint(kind="type", types=(kind,))] if kind else []


def _jsonschema(match: re.Match[str], names: Names) -> list[Hint]:
    """The text of jsonschema's ValidationError: the message, then the schema, then where in the instance."""
    argument = names.known(match[2])
    found = [replace(hint, argument=argument) for hint in wanted(match[1], given=names.sent.get(argument or ""))]
    return found if argument else []


def _google(match: re.Match[str], names: Names) -> list[Hint]:
    argument = names.known(match[1])
    word = match[2].lower()
    kind = (
        "integer"
        if "int" in word or "fixed" in word
        else {"double": "number", "float": "number", "bool": "boolean"}.get(word)
    )
    if argument is None:
        return []
    return [Hint(kind="type", types=(kind,), argument=argument) if kind else Hint(kind="refused", argument=argument)]


def _variant(match: re.Match[str], names: Names) -> list[Hint]:
    argument, listing = names.holding(match[1]), read_list(match[2])
    return [Hint(kind="enum", values=listing.values, argument=argument)] if argument and listing.values else []


def _rails_conflict(match: re.Match[str], names: Names) -> list[Hint]:
    row = [a for name in read_list(match[1]).values if (a := names.known(str(scalar(str(name)))))]
    return (
        [Hint(kind="exclusive", argument=a, others=tuple(o for o in row if o != a)) for a in row]
        if len(row) > 1
        else []
    )


def _joi_peers(match: re.Match[str], names: Names) -> list[Hint]:
    having, lacking = ([a for v in read_list(text).values if (a := names.known(str(v)))] for text in match.groups())
    return [Hint(kind="together", argument=name, others=tuple(lacking)) for name in having if lacking]


_INTEGER, _NUMBER, _BOOLEAN = (Hint(kind="type", types=(name,)) for name in ("integer", "number", "boolean"))
_SENTENCES: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(words, flags), reader)
    for words, flags, reader in (
        ((r"missing (?:a |an |\d{1,3} )?required (?:(?:positional|keyword-only"
        r"|positional-only) )*arguments?: ?([^\n]{1,500})"), 0, _missing_list),
        (rf"got an unexpected keyword argument {_Q}(?:\. Did you mean [^\n]{{1,100}}\?)?", 0, _unexpected),
        (rf"got multiple values for (?:keyword )?argument {_Q}", 0, _unexpected),
        (rf"invalid literal for int\(\) with base \d+: {_Q}", 0, _by_value(_INTEGER)),
        (rf"could not convert string to (?:float|complex): ?(?:{_Q}|(\S{{1,80}}))", 0, _by_value(_NUMBER)),
        (r"[Ii]nvalid literal for boolean\(\): ?(\S{1,80})", 0, _by_value(_BOOLEAN)),
        (r"\bInt cannot represent [^\n:]{1,60}: ['\"]?([^'\"\n]{1,100})['\"]?", 0, _by_value(_INTEGER)),
        (r"\bFloat cannot represent [^\n:]{1,60}: ['\"]?([^'\"\n]{1,100})['\"]?", 0, _by_value(_NUMBER)),
        (r"\bBoolean cannot represent [^\n:]{1,60}: ['\"]?([^'\"\n]{1,100})['\"]?", 0, _by_value(_BOOLEAN)),
        (r"contains (\[[^\]\n]{1,200}\]) without its required peers (\[[^\]\n]{1,200}\])", 0, _joi_peers),
        (rf"time data {_Q} does not match format {_Q}", 0, _strptime),
        (rf"Invalid isoformat string: {_Q}", 0, _isoformat),
        (rf"\bKeyError(?:\(|: ?){_Q}\)?", 0, _key_error),
        (r"No time zone found with key ([\w/+\-]{1,80})", 0, _by_value(Hint(kind="not_found"))),
        (r"following arguments are required: ([^\n]{1,500})", 0, _missing_list),
        (r"Missing (?:option|argument|parameter):? ['\"]?(?:-\w(?:,| /) )?(?:--)?([A-Za-z][\w\-]{0,60})",
         0, _missing_one),
        (r"param is missing or the value is empty(?: or invalid)?: :?(\w{1,80})", 0, _missing_one),
        (r"missing field [`'\"]([\w\-]{1,80})[`'\"]", 0, _missing_one),
        (rf"Missing required parameter in input: {_Q}", 0, _missing_one),
        (r"The request must contain the parameter \"?([A-Za-z][\w.]{0,80})", 0, _missing_one),
        (r"unknown field [`'\"]([\w\-]{1,80})[`'\"], expected (?:one of )?([`'\"][^\n]{1,2000})",
         0, _unknown_then_allowed),
        (r"Unknown parameter in input: \"([\w\-]{1,80})\", must be one of: ([^\n]{1,2000})", 0, _unknown_then_allowed),
        (r"unknown variant `([^`\n]{1,80})`, expected (?:one of )?([`'\"][^\n]{1,2000})", 0, _variant),
        (r"Unknown argument ['\"](\w{1,80})['\"] on field", 0, _unexpected),
        ((r"Variable ['\"]\$(\w{1,80})['\"] (?:of required type ['\"][^'\"\n]{1,80}['\"] was not provided"
        r"|has invalid value: Expected a value of non-null type [^\n]{1,100} to be provided)"), 0, _missing_one),
        ((r"[Aa]rgument ['\"](?:[\w.]{1,80}\()?(\w{1,80})(?::\))?['\"] of type ['\"][^'\"\n]{1,80}['\"] is"
        r" required(?:,? but (?:it was )?not provided)?"), 0, _missing_one),
        ((r"Variable \"\$(\w{1,80})\" got invalid value [^;\n]{1,200}[;.] (?:Expected type )?\"?(Int|Float"
        r"|Boolean|String)\b[^\n]{0,200}"), 0, _graphql),
        (r"'[^'\n]{0,200}' at '([\w.\[\]]{1,80})' failed to satisfy constraint: ([^;\n]{1,1000})", 0, _aws),
        (r"\bValue at '([\w.\[\]]{1,80})' failed to satisfy constraint: ([^;\n]{1,1000})", 0, _aws),
        (r"Key: '[\w.\[\]]{0,120}' Error:Field validation for '(\w{1,80})' failed on the '(\w{1,40})' tag",
         0, _go_validator),
        ((r"Required (?:request )?(?:([\w.]{1,80}) )?(parameter|header|cookie|part|path variable"
        r"|URI template variable"
        r"|query parameter) '([\w.\-]{1,80})'(?: for method parameter type ([\w.]{1,100}))? is not present"),
        0, spring_missing),
        ((r"(?:Method parameter '(\w{1,80})': )?Failed to convert (?:property )?value of type"
        r" '[\w.\[\]$;]{1,100}' to required type '([\w.$]{1,120})'(?: for property"
        r" '(\w{1,80})')?(?:[^\n\"]{0,300}(?:For input string: |for value )[\"'\[]([^\"'\]\n]{0,100})[\"'\]])?"),
        0, spring_type),
        ((r"could not be converted to System\.(?:Nullable`1\[System\.)?(\w{1,40})\]?\. Path:"
        r" \$\.(\w{1,80})[^\n]{0,80}"), 0, dotnet),
        (r"Invalid value at '([\w.\[\]]{1,80})' \(TYPE_([A-Z]\w{1,20})\)[^\n]{0,200}", 0, _google),
        (r"strconv\.ParseFloat: parsing \"([^\"\n]{0,200})\": invalid syntax", 0, _by_value(_NUMBER)),
        (r"strconv\.ParseBool: parsing \"([^\"\n]{0,200})\": invalid syntax", 0, _by_value(_BOOLEAN)),
        (r"parsing \"([^\"\n]{0,200})\": (?:invalid syntax|value out of range)", 0, _by_value(_INTEGER)),
        (r"(?s)\A(.{1,500}?)\n\nFailed validating .*\nOn instance\[['\"]([^'\"\n]{1,80})['\"]\]:.*", 0, _jsonschema),
        (r"contains a conflict between (?:optional )?exclusive peers (\[[^\]\n]{1,300}\])", 0, _rails_conflict),
    )
)  # fmt: skip
