"""What a call does to the world, and so whether it may be made unasked: the one rule, for `probe`, `run` and `serve`.

HTTP says that a GET changes nothing, and many services do not keep to it. So a GET is a read only where something
speaks for it: a description that begins with a reading verb, or a name or a path of nouns, ids and reading verbs whose
arguments filter, page or select. What says that it acts outranks that. Any other GET is treated as a write: it is
asked about, recorded as one, and never sent twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from protocols.effects.addresses import SUFFIX, VARIABLE, Resources, classify_path_part, parts_of
from protocols.effects.descriptions import Statement, classify_description
from protocols.effects.query_arguments import (
    QueryArgument,
    is_filter_name,
    may_be_set,
    query_arguments_of,
)
from protocols.effects.verbs import (
    CAN_BE_VERB,
    GRAMMAR,
    READS,
    STRICT,
    VerbKind,
    acting_verb,
    kind_of_name,
    kind_of_word,
    name_words,
    strict_verb,
)
from protocols.naming import ID_WORDS, singular, snake
from protocols.protocol import HttpBinding, McpBinding, ToolProtocol

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that by HTTP's rules change nothing."""
UNKNOWN_EFFECT = "nothing tells"
"""Why a tool is taken for one that changes something although no word says so."""
UNPROVEN = "nothing shows that it only reads"
"""Why a GET is asked about although nothing says that it acts."""
_SHORT = 3
"""Letters from which a part of a path is taken for a word."""


class Effect(NamedTuple):
    """Whether a call only reads, a clause that says why, and the verb by which it acts where one says so."""

    reads: bool
    why: str
    verb: str = ""


def annotate_effects(
    protocols: Iterable[ToolProtocol], *, written: Collection[str] = ()
) -> list[ToolProtocol]:
    """The protocols of one source, each GET with what it does as its annotation: that it only reads, or not.

    What their source says of a GET is heeded: that it acts, always; that it reads, unless something says that it acts.
    `written` are the names that the author of the source gave, whatever they are made of.
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
    """True if a tool is called by a method that by HTTP's rules changes nothing."""
    return isinstance(protocol.binding, HttpBinding) and protocol.binding.method.upper() in SAFE


def is_known_read(protocol: ToolProtocol) -> bool:
    """Return True if a tool may be called unasked: what it does is known, and that is to read."""
    declared = protocol.annotations.read_only
    if is_safe(protocol):
        return effect_of(protocol).reads
    if isinstance(protocol.binding, McpBinding):
        return declared is True and likely_action(protocol)[0] not in ("remove", "end")
    return declared is True


def likely_action(protocol: ToolProtocol) -> tuple[VerbKind, str]:
    """Return what a tool seems to do, and a clause that says why.

    The more careful reading wins: a GET that is called `delete_user` removes, a POST that nothing tells of creates. A
    GET of which nothing is known is of the kind *read*; `reads` says that it may not be called unasked.
    """
    http = protocol.binding if isinstance(protocol.binding, HttpBinding) else None
    method = http.method.upper() if http else ""
    if http and method in SAFE:
        effect = effect_of(protocol)
        return (kind_of_word(effect.verb) or "update" if effect.verb else "read"), effect.why
    named = kind_of_name(protocol)
    if named is not None and named[0] in ("remove", "end"):
        return named
    if method == "DELETE":
        return "remove", "it is a DELETE"
    if (
        named is None
        and protocol.annotations.read_only
        and protocol.binding is not None
        and not method
    ):
        return "read", "its source declares it"
    if method in ("PUT", "PATCH"):
        return "update", f"it is a {method}"
    if named is not None and named[0] == "read":
        return (
            "read",
            f"it is a {method}, although {named[1]}"
            if method
            else "nothing declares that it only reads",
        )
    return named or (("create", "it is a POST") if method else ("update", UNKNOWN_EFFECT))


def effect_of(
    protocol: ToolProtocol, shown: Resources | None = None, *, written: bool = False
) -> Effect:
    """Return what a call by a safe method does.

    `shown` is what the source's other addresses show; with `written`, the source's author gave the tool its name.
    """
    http = protocol.binding
    if not isinstance(http, HttpBinding):
        raise TypeError(f"{protocol.name!r} is not called over HTTP")
    verb, why = acting_verb(protocol, http)
    if verb:
        return Effect(False, why, verb)
    texts = (
        protocol.title,
        protocol.description,
        protocol.name if " " in protocol.name.strip() else "",
    )
    said = [one for text in texts if text.strip() and (one := classify_description(text))]
    if acts := next((one for one in said if one.voice == "acts"), None):
        return Effect(False, f"its description says {acts.word!r}", acts.word)
    arguments = query_arguments_of(protocol, http)
    if found := next((one for one in arguments if one.action_verb), None):
        return Effect(
            False, f"its argument {found.name!r} may say what is to be done", found.action_verb
        )
    if (declared := protocol.annotations.read_only) is not None:
        return Effect(declared, "its source declares it" if declared else UNPROVEN)
    parts = parts_of(http.url)
    paid = next((one for one in arguments if one.may_be_payment), None)
    if paid and not any(
        READS["computing"] & {*name_words(part)[:1]} for part in (*parts, protocol.name)
    ):
        return Effect(False, f"its argument {paid.name!r} may be an amount or a recipient")
    why = _evidence_of_read(protocol, http, said, arguments, shown or Resources(), written=written)
    return Effect(bool(why), why or UNPROVEN)


def _evidence_of_read(
    protocol: ToolProtocol,
    http: HttpBinding,
    said: Sequence[Statement],
    arguments: Sequence[QueryArgument],
    shown: Resources,
    *,
    written: bool,
) -> str:
    """A clause that says why a call only reads of which nothing says that it acts; empty where nothing shows it."""
    if found := next((one for one in said if one.voice == "reads"), None):
        return f"its description begins with {found.word!r}"
    parts = parts_of(http.url)
    named = _is_named_read(protocol, http, parts) or (
        written and _is_written_read(protocol, parts, arguments)
    )
    described = next((one.voice for one in said if one.voice in ("information", "thing")), "")
    path = _is_reading_path(protocol, http, parts, arguments, shown, described=described)
    if described == "information" and all(
        one.is_view_filter or not one.may_set for one in arguments
    ):
        return "its description names information"
    if said and not described:  # in words that are not understood, it may say anything
        return "its name and its path name a read" if named and path else ""
    if named or path:
        return "its name is that of a read" if named else "its path is that of a read"
    return ""


def _is_written_read(
    protocol: ToolProtocol, parts: Sequence[str], arguments: Sequence[QueryArgument]
) -> bool:
    """True if the author of a document named an operation by a reading verb, and neither path nor arguments act.

    A path that is short for the name says nothing beside it: with no arguments, a name of a thing is then enough.
    """
    words = name_words(protocol.name)
    fixed = [name_words(part) for part in parts if "{" not in part]
    last = fixed[-1][-1] if fixed and fixed[-1] else ""
    if (
        len(parts) == 1
        and not arguments
        and len(last) < _SHORT
        and protocol.name.startswith(parts[0])
    ):
        return classify_path_part(protocol.name) in ("things", "information", "choice")
    if not words or words[0] not in READS["getters"] or last in STRICT | GRAMMAR["particles"]:
        return False
    return all(one.is_view_filter or not one.may_set for one in arguments)


def _is_reading_path(
    protocol: ToolProtocol,
    http: HttpBinding,
    parts: Sequence[str],
    arguments: Sequence[QueryArgument],
    shown: Resources,
    *,
    described: str,
) -> bool:
    """True if a path is made of nouns, ids and reading verbs, and its arguments filter, page or select.

    Where the call is `described` as a thing or as information, its arguments may have any name.
    """
    others = [
        one
        for one in arguments
        if not one.in_path and not (one.values and one.values <= READS["names"])
    ]
    ends = [classify_path_part(part) for part in parts[-2:]]
    paged = ends[-1:] == ["things"] and any(snake(one.name) in READS["paging"] for one in others)
    listing = paged or "reading" in ends
    if not described and not _has_only_filters(others, shown, listing=listing):
        return False
    whole = http.url.partition("?")[0].rstrip("/")
    for place, part in enumerate(parts):
        above = parts[place - 1] if place else ""
        last = place == len(parts) - 1
        if VARIABLE.fullmatch(part):
            loosely = "{" in above and (described or is_filter_name(part.strip("{}")))
            known = _is_named_after(part, above) or classify_path_part(above) == "information"
            loosely = loosely or (described and known)
            here = whole if last else whole.rsplit("/", len(parts) - 1 - place)[0]
            fits = bool(loosely) or _is_record(protocol, part, above, here, shown)
        elif "{" in part:  # `{id}.json`
            fits = VARIABLE.match(part) is not None and SUFFIX.search(part) is not None
        else:
            fits = _is_readable_part(part, above, last=last, described=described) or (
                not last and shown.has_plural(part)
            )
            fits = fits or (
                part in READS["ranked"] and not last and _is_count_variable(parts[place + 1])
            )
        if not fits:
            return False
    return True


def _is_count_variable(part: str) -> bool:
    """True if a variable says how many things are wanted: `/top/{nb}`."""
    return VARIABLE.fullmatch(part) is not None and snake(part.strip("{}")) in READS["counts"]


def _is_readable_part(part: str, above: str, *, last: bool, described: str) -> bool:
    """True if a fixed part may stand in the path of a read, at its end or before."""
    thing = classify_path_part(part)
    if thing in ("things", "information", "reading"):
        return True
    if thing == "choice" or (
        part.endswith("ed") and thing != "unknown" and not strict_verb(part.removesuffix("d"))
    ):
        if (
            "{" in above
        ):  # `/airports/{code}/nearby` finds others, `/users/{id}/enabled` may change this one
            return part in READS["relative"]
        chosen = classify_path_part(above) in ("things", "information")
        return not last or (
            chosen and part not in ("new", "now") and above not in READS["preferences"]
        )
    if thing == "verb":
        return bool(described) and not last and name_words(part)[0] not in STRICT
    return thing == "noun" and (not last or described == "information")


def _is_record(protocol: ToolProtocol, part: str, above: str, url: str, shown: Resources) -> bool:
    """True if a variable is the id of a record: of `users`, of a `movie` by `movie_id`, of what other calls show."""
    if shown.has_record(url):
        return True
    name = part.strip("{}")
    thing = classify_path_part(above)
    stem = singular((name_words(above) or [""])[-1])
    if thing == "reading":
        return not may_be_set(name) or is_filter_name(name)
    if thing in ("choice", "information"):
        part_of_whole = (
            thing == "information" and above in READS["preferences"] and shown.has_whole(url)
        )
        chosen = above not in READS["settable"] | READS["preferences"] or part_of_whole
        return (is_filter_name(name) and chosen) or shown.has_things(snake(name))
    if thing == "things":
        return stem not in CAN_BE_VERB
    if thing in ("noun", "verb") and above == stem and shown.has_plural(stem):
        return True
    return (
        thing == "noun" and protocol.evidence.level != "observed" and _is_named_after(part, above)
    )


def _is_named_after(part: str, above: str) -> bool:
    """True if a variable is called as what stands before it: `box_office/{box_office_id}`."""
    words = snake(part).split("_")
    return words[-1] in ID_WORDS and words[:-1] == [singular(word) for word in name_words(above)]


def _has_only_filters(
    arguments: Sequence[QueryArgument], shown: Resources, *, listing: bool
) -> bool:
    """True if arguments filter, page or select: by their names, or, in a search or a paged list, as none sets."""
    unknown = [
        one for one in arguments if not one.is_view_filter and not shown.has_things(snake(one.name))
    ]
    return not unknown or (listing and not any(one.may_set for one in unknown))


def _is_named_read(protocol: ToolProtocol, http: HttpBinding, parts: Sequence[str]) -> bool:
    """True if somebody gave the tool the name of a read, and it names what its path names."""
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
    """The words of a name that somebody chose: none of one that is made of method and path, as many generators do.

    They say no more than the address: `get_play` is as good for `GET /play` as `get_users_by_id` for `GET /users/{id}`.
    """
    method = http.method.lower()
    path = http.url.partition("?")[0].split("/")[3:]
    address = [word for part in path for word in name_words(part)]
    fixed = [word for part in path for word in name_words(VARIABLE.sub("", part))]
    variables = [word for name in VARIABLE.findall(http.url) for word in name_words(name)]
    if (
        words[-1:] == [method] and words[-1 - len(address) : -1] == address
    ):  # FastAPI's: function, path, method
        words = words[: -1 - len(address)]
    short = [word for part in parts_of(http.url) for word in name_words(VARIABLE.sub("", part))]
    rest = [word for word in words[1:] if word != "by"]
    made: tuple[list[str], ...] = (
        [],
        ["root"],
        address,
        fixed,
        short,
        [*fixed, *variables],
        [*short, *variables],
    )
    return [] if words[:1] == [method] and rest in made else words
