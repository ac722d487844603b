"""Decides if a call only reads, and so may be made without asking.

Used by `probe`, `run` and `serve`.

A call *reads* if it changes nothing. Otherwise it *acts*: it is a write. HTTP says that a GET
changes nothing, but many services do not follow this. So a GET counts as a read only if there is
evidence: its description begins with a reading verb; or its name or path consists of nouns, ids and
reading verbs, and its arguments only filter, page or select. A word that says that the call is a
write outranks such evidence. Any other GET is treated as a write, too: the user is asked before it
is sent, it is recorded as a write, and it is never sent twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from protocols.effects.addresses import VARIABLE, Resources, classify_path_part, parts_of
from protocols.effects.descriptions import Statement, Voice, classify_description
from protocols.effects.query_arguments import (
    QueryArgument,
    may_be_set,
    pages_response,
    query_arguments_of,
    selects_response,
)
from protocols.effects.reading_paths import is_reading_path
from protocols.effects.verbs import (
    GRAMMAR,
    READS,
    STRICT,
    VerbKind,
    acting_verb,
    kind_of_name,
    kind_of_word,
    name_words,
)
from protocols.naming import singular
from protocols.protocol import HttpBinding, McpBinding, ToolProtocol

SAFE = ("GET", "HEAD", "OPTIONS")
"""HTTP methods that change nothing, according to the standard."""
UNKNOWN_EFFECT = "nothing tells"
"""Reason for treating a tool as a write although no word says that it acts."""
UNPROVEN = "nothing shows that it only reads"
"""Reason for asking before a GET although no word says that it acts."""
_SHORT = 3
"""Minimum length of the last word of a path. A shorter word counts as an abbreviation."""


class Effect(NamedTuple):
    """The effect of a call: it only reads, or it is a write.

    `reads` is True if the call only reads, and `why` is the reason. `verb` is the word that says
    what a write does.
    """

    reads: bool
    why: str
    verb: str = ""


def annotate_effects(
    protocols: Iterable[ToolProtocol], *, written: Collection[str] = ()
) -> list[ToolProtocol]:
    """Return the tools of one source, with the annotation `read_only` set for each GET.

    If the source declares that a GET is a write, this is always followed. If it declares that a GET
    only reads, this is followed unless something else says that it is a write. `written` contains
    the names of tools that the author of the source wrote, in contrast to generated names.
    """
    protocols = list(protocols)
    shown = Resources.of(protocols)
    found = []
    for one in protocols:
        if is_safe(one):
            read_only = effect_of(one, shown, written=one.name in written).reads
            one = replace(one, annotations=replace(one.annotations, read_only=read_only))
        found.append(one)
    return found


def is_safe(protocol: ToolProtocol) -> bool:
    """Return True if the HTTP method of a tool changes nothing according to the standard."""
    return isinstance(protocol.binding, HttpBinding) and protocol.binding.method.upper() in SAFE


def is_known_read(protocol: ToolProtocol) -> bool:
    """Return True if a tool is known to only read, so that it may be called without asking."""
    declared = protocol.annotations.read_only
    if is_safe(protocol):
        return effect_of(protocol).reads
    if isinstance(protocol.binding, McpBinding):
        return declared is True and likely_action(protocol)[0] not in ("remove", "end")
    return declared is True


def likely_action(protocol: ToolProtocol) -> tuple[VerbKind, str]:
    """Return what a tool probably does, and the reason.

    In doubt, the more dangerous action is assumed: a GET called `delete_user` removes something,
    and a POST without other evidence creates something. A GET without any evidence is a *read*
    here, although `is_known_read` returns False for it.
    """
    if is_safe(protocol):
        effect = effect_of(protocol)
        if not effect.verb:
            return "read", effect.why
        return kind_of_word(effect.verb) or "update", effect.why
    named = kind_of_name(protocol)
    if named is not None and named[0] in ("remove", "end"):
        return named
    if isinstance(protocol.binding, HttpBinding):
        return _likely_action_of_method(protocol.binding.method.upper(), named)
    if named is None and protocol.annotations.read_only and protocol.binding is not None:
        return "read", "its source declares it"
    if named is not None and named[0] == "read":
        return "read", "nothing declares that it only reads"
    return named or ("update", UNKNOWN_EFFECT)


def may_be_meant(name: str, protocol: ToolProtocol) -> bool:
    """Return True if an unknown function name may mean this tool.

    A name whose first verb says that the function reads, such as `get_booking`, never means a tool
    that changes data, even if the names are very similar.
    """
    kinds = (kind for word in name_words(name) if (kind := kind_of_word(word)) is not None)
    return next(kinds, None) != "read" or not acts(protocol)


def acts(protocol: ToolProtocol) -> bool:
    """Return True if there is evidence that a tool changes data.

    False if it counts as a write only because nothing is known about its effect.
    """
    if not protocol.writes:
        return False
    action, why = likely_action(protocol)
    return action != "read" and why != UNKNOWN_EFFECT


def _likely_action_of_method(
    method: str, named: tuple[VerbKind, str] | None
) -> tuple[VerbKind, str]:
    """Return the probable action of a tool that is called with POST, PUT, PATCH or DELETE.

    The second item of the result is the reason. `named` is the action that the tool's name
    suggests, with its reason, or None.
    """
    if method == "DELETE":
        return "remove", "it is a DELETE"
    if method in ("PUT", "PATCH"):
        return "update", f"it is a {method}"
    if named is not None and named[0] == "read":
        return "read", f"it is a {method}, although {named[1]}"
    return named or ("create", "it is a POST")


def effect_of(
    protocol: ToolProtocol, shown: Resources | None = None, *, written: bool = False
) -> Effect:
    """Return the effect of calling a tool whose HTTP method is GET, HEAD or OPTIONS.

    `shown` has the URLs of all tools of the source, which are further evidence. `written` is True
    if the author of the source wrote the name of the tool, so that it was not generated.
    """
    http = protocol.binding
    if not isinstance(http, HttpBinding):
        raise TypeError(f"{protocol.name!r} is not called over HTTP")
    statements = _statements_of(protocol)
    arguments = query_arguments_of(protocol, http)
    if action := _evidence_of_action(protocol, http, statements, arguments):
        return action
    if (declared := protocol.annotations.read_only) is not None:
        return Effect(declared, "its source declares it" if declared else UNPROVEN)
    if paid := _find_payment(protocol, http, arguments):
        return Effect(False, f"its argument {paid!r} may be an amount or a recipient")
    why = _evidence_of_read(
        protocol, http, statements, arguments, shown or Resources(), written=written
    )
    return Effect(bool(why), why or UNPROVEN)


def _statements_of(protocol: ToolProtocol) -> list[Statement]:
    """Return what each text that describes a tool says about its effect, such as *reads* or *acts*.

    The texts are the title, the description and, if it consists of several words, the name.
    """
    name = protocol.name if " " in protocol.name.strip() else ""
    texts = [text for text in (protocol.title, protocol.description, name) if text.strip()]
    return [classify_description(text) for text in texts]


def _evidence_of_action(
    protocol: ToolProtocol,
    http: HttpBinding,
    statements: Sequence[Statement],
    arguments: Sequence[QueryArgument],
) -> Effect | None:
    """Return the effect of a GET if some word says that the call changes something.

    Such a word may be in the name, the path, the description or an argument. Return None if there
    is no such word.
    """
    verb, why = acting_verb(protocol, http)
    if verb:
        return Effect(False, why, verb)
    if acts := _find_statement(statements, "acts"):
        return Effect(False, f"its description says {acts.word!r}", acts.word)
    for argument in arguments:
        if argument.action_verb:
            why = f"its argument {argument.name!r} may say what is to be done"
            return Effect(False, why, argument.action_verb)
    return None


def _find_payment(
    protocol: ToolProtocol, http: HttpBinding, arguments: Sequence[QueryArgument]
) -> str:
    """Return the name of an argument that may be an amount or a recipient of money, or "".

    The result is "" for a tool that computes something, such as a currency conversion. It takes an
    amount, but pays nothing.
    """
    for name in (*parts_of(http.url), protocol.name):
        if READS["computing"] & {*name_words(name)[:1]}:
            return ""
    return next((argument.name for argument in arguments if argument.may_be_payment), "")


def _find_statement(statements: Sequence[Statement], *voices: Voice) -> Statement | None:
    """Return the first statement that has one of the given voices, or None.

    The voice of a statement says how a text describes the call: *reads*, *acts*, *thing*, ….
    """
    return next((statement for statement in statements if statement.voice in voices), None)


def _sets_nothing(arguments: Sequence[QueryArgument]) -> bool:
    """Return True if the call stores the value of none of its arguments.

    An argument such as `brightness` may be stored; a filter or a page number is not.
    """
    return all(argument.is_view_filter or not argument.may_set for argument in arguments)


def _evidence_of_read(
    protocol: ToolProtocol,
    http: HttpBinding,
    statements: Sequence[Statement],
    arguments: Sequence[QueryArgument],
    shown: Resources,
    *,
    written: bool,
) -> str:
    """Return the reason to conclude that a GET only reads, or "" without such a reason.

    The caller has already checked that no word says that the call is a write.
    """
    if reads := _find_statement(statements, "reads"):
        return f"its description begins with {reads.word!r}"
    parts = parts_of(http.url)
    named = _is_named_read(protocol, http, parts)
    if not named and written:
        named = _is_written_read(protocol, parts, arguments)
    noun = _find_statement(statements, "information", "thing")
    described = noun.voice if noun else ""
    path = is_reading_path(protocol, http, parts, arguments, shown, described=described)
    if described == "information" and _sets_nothing(arguments):
        return "its description names information"
    if statements and not described:  # the description is not understood: it may say anything
        return "its name and its path name a read" if named and path else ""
    if named:
        return "its name is that of a read"
    return "its path is that of a read" if path else ""


def _is_written_read(
    protocol: ToolProtocol, parts: Sequence[str], arguments: Sequence[QueryArgument]
) -> bool:
    """Return True if the name of a tool, which was written by a person, shows that it only reads.

    The name must begin with a reading verb, and neither the path nor an argument may say that the
    call acts. If the path is only an abbreviation of the name and there are no arguments, the name
    may also be a noun.
    """
    words = name_words(protocol.name)
    fixed = [name_words(part) for part in parts if "{" not in part]
    last = fixed[-1][-1] if fixed and fixed[-1] else ""
    if not arguments and len(last) < _SHORT and _abbreviates_name(parts, protocol.name):
        return classify_path_part(protocol.name) in ("things", "information", "choice")
    if not words or words[0] not in READS["getters"] or last in STRICT | GRAMMAR["particles"]:
        return False
    if words[1:] == fixed[-1]:
        return _lists_things(parts, arguments)
    return _sets_nothing(arguments)


def _lists_things(parts: Sequence[str], arguments: Sequence[QueryArgument]) -> bool:
    """Return True if the arguments of a tool only select what its path names.

    The name of the tool, as `get_orders` for `/orders`, says no more than its path.
    """
    pages = any(
        pages_response(argument.name) or selects_response(argument.name) for argument in arguments
    )
    if not pages and not all(one.is_view_filter for one in arguments):
        return False
    if pages and classify_path_part(parts[-1]) == "things":
        return all(
            argument.is_view_filter or not may_be_set(argument.name, in_list=True)
            for argument in arguments
        )
    return _sets_nothing(arguments)


def _abbreviates_name(parts: Sequence[str], name: str) -> bool:
    """Return True if a path is one part with which the name of the tool begins."""
    return len(parts) == 1 and name.startswith(parts[0])


def _is_named_read(protocol: ToolProtocol, http: HttpBinding, parts: Sequence[str]) -> bool:
    """Return True if the name of a tool says that it reads, and fits the last noun of its path.

    A name that was generated from method and path does not count, because it proves nothing.
    """
    fixed = [part for part in parts if "{" not in part]
    words = _words_beyond_address(name_words(protocol.name), http)
    if not words or not (words[0] in READS["names"] or words[-1] in READS["names"] - {"get"}):
        return False
    if not fixed:
        return True
    last = {singular(word) for word in name_words(fixed[-1])}
    ends = classify_path_part(fixed[-1])
    lists = (
        ends == "noun" and classify_path_part(words[-1]) == "things"
    )  # `list_diagnoses` for `/ill`
    return (
        lists
        or bool(last & {*map(singular, words)})
        or ends in ("things", "information", "reading")
    )


def _words_beyond_address(words: list[str], http: HttpBinding) -> list[str]:
    """Return the words of a tool's name, or [] if the name was generated from method and path.

    A generated name says no more than the URL. Examples: `get_play` for `GET /play`,
    `get_users_by_id` for `GET /users/{id}`.
    """
    method = http.method.lower()
    path = http.url.partition("?")[0].split("/")[3:]
    address = _words_of(path)
    # FastAPI generates names of function, path and method.
    if words[-1:] == [method] and words[-1 - len(address) : -1] == address:
        words = words[: -1 - len(address)]
    fixed = _words_of(VARIABLE.sub("", part) for part in path)
    short = _words_of(VARIABLE.sub("", part) for part in parts_of(http.url))
    variables = _words_of(VARIABLE.findall(http.url))
    rest = [word for word in words[1:] if word != "by"]
    generated: tuple[list[str], ...] = (
        [],
        ["root"],
        address,
        fixed,
        short,
        [*fixed, *variables],
        [*short, *variables],
    )
    return [] if words[:1] == [method] and rest in generated else words


def _words_of(names: Iterable[str]) -> list[str]:
    return [word for name in names for word in name_words(name)]
