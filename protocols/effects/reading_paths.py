"""Decides if a URL path shows that a call only reads.

Such a path consists of nouns, ids and reading verbs, and its arguments filter, page or select.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocols.effects.addresses import SUFFIX, VARIABLE, Resources, classify_path_part
from protocols.effects.query_arguments import QueryArgument, is_filter_name, may_be_set
from protocols.effects.verbs import CAN_BE_VERB, READS, STRICT, name_words, strict_verb
from protocols.naming import ID_WORDS, singular, snake
from protocols.protocol import HttpBinding, ToolProtocol


def is_reading_path(
    protocol: ToolProtocol,
    http: HttpBinding,
    parts: Sequence[str],
    arguments: Sequence[QueryArgument],
    shown: Resources,
    *,
    described: str,
) -> bool:
    """Return True if a path and its arguments show that a call only reads.

    `parts` are the segments of the path. They must be nouns, ids and reading verbs. `described` is
    `thing` if the description of the tool only names a thing, `information` if it only names
    information, else "". With such a description, the arguments may have any name; without, they
    must filter, page or select.
    """
    if not described and not _has_only_filters(arguments, parts, shown):
        return False
    whole = http.url.partition("?")[0].rstrip("/")
    if not arguments and "{" not in whole and "?" not in http.url:
        parts = parts[:-1] if parts and parts[-1] in READS["never_alone"] else parts
    for place, part in enumerate(parts):
        above = parts[place - 1] if place else ""
        below = parts[place + 1] if place + 1 < len(parts) else ""
        if VARIABLE.fullmatch(part):
            url = whole.rsplit("/", len(parts) - 1 - place)[0]
            fits = _is_readable_variable(protocol, part, above, url, shown, described=described)
        elif "{" in part:  # `{id}.json`
            fits = VARIABLE.match(part) is not None and SUFFIX.search(part) is not None
        else:
            fits = _is_readable_part(part, above, last=not below, described=described)
            fits = fits or (below != "" and _is_readable_before(part, below, shown))
        if not fits:
            return False
    return True


def _is_readable_variable(
    protocol: ToolProtocol, part: str, above: str, url: str, shown: Resources, *, described: str
) -> bool:
    """Return True if a variable in the path (`part`) does not suggest that the call is a write.

    `above` is the segment before the variable. `url` is the URL up to and including the variable.
    """
    if "{" in above and (described or is_filter_name(part.strip("{}"))):
        return True
    if described and (_is_named_after(part, above) or classify_path_part(above) == "information"):
        return True
    return _is_record(protocol, part, above, url, shown)


def _is_readable_before(part: str, below: str, shown: Resources) -> bool:
    """Return True if a path segment fits a call that only reads, because of the segment after it.

    This is so for a noun in the singular whose plural another GET reads (`/run/{id}` beside
    `/runs`), and for a ranking before a number (`/top/{n}`). `below` is the segment after `part`.
    """
    if shown.has_plural(part):
        return True
    return part in READS["ranked"] and _is_count_variable(below)


def _is_count_variable(part: str) -> bool:
    """Return True if a variable is the number of items to return: `/top/{nb}`."""
    return VARIABLE.fullmatch(part) is not None and snake(part.strip("{}")) in READS["counts"]


def _is_readable_part(part: str, above: str, *, last: bool, described: str) -> bool:
    """Return True if a segment of the path (`part`) does not suggest that the call is a write.

    The segment is not a variable. `above` is the segment before it. `last` is True if it is the
    last segment. `described` is what the description of the tool names; see `is_reading_path`.
    """
    kind = classify_path_part(part)
    if kind in ("things", "information", "reading"):
        return True
    is_participle = part.endswith("ed") and not strict_verb(part.removesuffix("d"))
    if kind == "choice" or (is_participle and kind != "unknown"):
        return _is_readable_choice(part, above, last=last)
    if kind == "verb":
        return bool(described) and not last and name_words(part)[0] not in STRICT
    return kind == "noun" and (not last or described == "information")


def _is_readable_choice(part: str, above: str, *, last: bool) -> bool:
    """Return True if an adjective or participle in a path selects things and does not set a state.

    For example, `/airports/{code}/nearby` selects other airports, but `/users/{id}/enabled` may
    change this user. A ranking such as `/latest.json` selects also where nothing precedes it.
    """
    if not above and SUFFIX.sub("", part) in READS["ranked"]:
        return True
    if "{" in above:
        return part in READS["relative"]
    if not last:
        return True
    chosen = classify_path_part(above) in ("things", "information")
    return chosen and part not in ("new", "now") and above not in READS["preferences"]


def _is_record(protocol: ToolProtocol, part: str, above: str, url: str, shown: Resources) -> bool:
    """Return True if a variable of a path (`part`) is the id of a record.

    Examples: `/users/{id}`, `/movie/{movie_id}`, and records that other calls read or change.
    `above` is the segment before the variable, and `url` ends with the variable.
    """
    if shown.has_record(url):
        return True
    name = part.strip("{}")
    kind = classify_path_part(above)
    stem = singular((name_words(above) or [""])[-1])
    if kind == "reading":
        return not may_be_set(name) or is_filter_name(name)
    if kind in ("choice", "information"):
        if is_filter_name(name) and _is_selected_by_variable(kind, above, url, shown):
            return True
        return shown.has_things(snake(name))
    if kind == "things":
        return stem not in CAN_BE_VERB
    if kind in ("noun", "verb") and above == stem and shown.has_plural(stem):
        return True
    observed = protocol.evidence.level == "observed"
    return kind == "noun" and not observed and _is_named_after(part, above)


def _is_selected_by_variable(kind: str, above: str, url: str, shown: Resources) -> bool:
    """Return True if a variable in a URL path selects a part of what the segment before it names.

    An example is `/forecast/{city}`. The segment before the variable, `forecast`, is `above`. Its
    `kind` is `information`, or `choice` if it is an adjective.
    """
    if kind == "information" and above in READS["preferences"] and shown.has_whole(url):
        return True
    return above not in READS["settable"] | READS["preferences"]


def _is_named_after(part: str, above: str) -> bool:
    """Return True if a variable has the name of the segment before: `films/{film_id}`."""
    words = snake(part).split("_")
    return words[-1] in ID_WORDS and words[:-1] == [singular(word) for word in name_words(above)]


def _has_only_filters(
    arguments: Sequence[QueryArgument], parts: Sequence[str], shown: Resources
) -> bool:
    """Return True if all query arguments filter, page or select, according to their names.

    For a search or a paged list, it is enough that no argument is a value that the call may store.
    """
    others = [
        one
        for one in arguments
        if not one.in_path and not (one.values and one.values <= READS["names"])
    ]
    unknown = [
        one for one in others if not one.is_view_filter and not shown.has_things(snake(one.name))
    ]
    if not unknown:
        return True
    ends = [classify_path_part(part) for part in parts[-2:]]
    paged = ends[-1:] == ["things"] and any(snake(one.name) in READS["paging"] for one in others)
    if not paged and "reading" not in ends:
        return False
    return not any(one.may_set for one in unknown)
