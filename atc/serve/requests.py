"""Requests of clients: validation of names, queries and programs, and one request for a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypedDict

from atc.core.events import Observer
from atc.core.program import Program
from atc.safety.questions import AskPerson
from atc.store.stored import RunTaken
from protocols.errors import AtcError, UnknownTool
from protocols.toolbox import Toolbox

_LONGEST_SOURCE = 100_000
"""Longest program, in characters."""
_LONGEST_QUERY = 2_000
"""Longest search query, in characters."""
_MOST_NAMES = 100
"""Maximum number of tools that one request may name."""
_MOST_SUGGESTED = 10
"""Maximum number of unknown names in one request for which similar names are suggested."""


class Asking(TypedDict, total=False):
    """Keyword argument of the gateway's methods that run no program: the client that asks."""

    client: str
    """Identifies the client. Over stdio there is only one, whose name is ""."""


class ProgramOptions(TypedDict, total=False):
    """Keyword arguments of the gateway's methods that run a client's program.

    `client` identifies the client, as in `Asking`. `answered` has the ids of questions to which
    `ask_person` knows the answer.
    """

    observer: Observer | None
    ask_person: AskPerson | None
    client: str | None
    answered: Collection[str]


class BadRequest(AtcError):
    """A client's request is invalid. The message says what to change."""


def validate_query(query: str) -> str:
    """Return the query of a search, after checking it.

    Raises:
        BadRequest: The query is empty or too long.
    """
    if not query.strip():
        raise BadRequest("the query is empty; say what the tool should do, or give a tool's name.")
    if len(query) > _LONGEST_QUERY:
        raise BadRequest(
            f"the query has {len(query):,} characters, more than {_LONGEST_QUERY:,}; make"
            " it shorter."
        )
    return query


def validate_names(names: list[str] | str) -> list[str]:
    """Return the tool names in a request as a list without repetitions.

    Raises:
        BadRequest: There is no name, or there are too many.
    """
    names = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    if not names:
        raise BadRequest("name at least one tool; search_tools finds their names.")
    if len(names) > _MOST_NAMES:
        raise BadRequest(
            f"{len(names):,} tools are named, more than {_MOST_NAMES}; describe fewer at once."
        )
    return names


def find_tools(toolbox: Toolbox, names: list[str]) -> tuple[Toolbox, list[str]]:
    """Return the tools with these names, and a line about each unknown name.

    Only the first few unknown names get suggestions, because each is compared with all tools.

    Raises:
        UnknownTool: None of the names is known. The message suggests names similar to the first.
    """
    known: dict[str, None] = {}
    unknown: list[UnknownTool] = []
    for name in names:
        try:
            known[toolbox.find(name, suggest=len(unknown) < _MOST_SUGGESTED).alias] = None
        except UnknownTool as error:
            unknown.append(error)
    if not known:
        raise unknown[0]
    return toolbox.only(known), [f"# {error}" for error in unknown]


def validate_program(source: str) -> Program:
    """Return the program in a request, after checking its length.

    Raises:
        BadRequest: The program is empty or too long.
    """
    if not source.strip():
        raise BadRequest(
            "the program is empty; write Python that calls the tools and prints the answer."
        )
    if len(source) > _LONGEST_SOURCE:
        raise BadRequest(
            f"the program has {len(source):,} characters, more than {_LONGEST_SOURCE:,}."
        )
    return Program(source)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Within the block, replace the error `RunTaken` by a `BadRequest` that clients may read.

    `RunTaken` means that another request works on the run. Its message names the process, which is
    private.
    """
    try:
        yield
    except RunTaken as taken:
        raise BadRequest(
            "another request works on this run now: wait for its reply, then call again."
        ) from taken
