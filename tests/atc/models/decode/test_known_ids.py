"""What calls that are made one by one may refer to: ids of the task and of results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from atc.models.decode.known_ids import IdScope, KnownIds
from protocols.links import guess_links
from protocols.toolbox import Toolbox
from tests.labs.check_corpus import WHOLE, arr, obj
from tests.labs.tools import TEXT, tool

OPAQUE = {"type": "string", "pattern": "^st_[a-z2-7]{5}$"}
DRAWN = [
    tool(
        "search_movie",
        None,
        {"query": TEXT},
        obj(results=arr(obj(id=WHOLE, title=TEXT)), page=WHOLE),
    ),
    tool(
        "list_movie_popular",
        None,
        {"page": WHOLE},
        obj(results=arr(obj(id=WHOLE)), total=WHOLE),
        optional=("page",),
    ),
    tool("search_person", None, {"query": TEXT}, obj(results=arr(obj(id=WHOLE, name=TEXT)))),
    tool(
        "get_movie_credits",
        None,
        {"movie_id": WHOLE},
        obj(id=WHOLE, cast=arr(obj(person_id=WHOLE, name=TEXT))),
    ),
    tool(
        "get_person",
        None,
        {"person_id": WHOLE, "movie_id": WHOLE},
        obj(name=TEXT),
        optional=("movie_id",),
    ),
    tool("get_storm", None, {"storm_id": OPAQUE}, obj(name=TEXT)),
    tool("rate", None, {"stars": WHOLE, "day": {"type": "string", "format": "date"}}, None),
]
BOX = Toolbox(
    [
        replace(one, protocol=protocol)
        for one, protocol in zip(DRAWN, guess_links([one.protocol for one in DRAWN]), strict=True)
    ]
)
TASK = "Who plays the lead in Casablanca?"


def may_be(scope: IdScope, name: str, argument: str) -> Any:
    """The values that an argument is held to; None for any, `-` where it is not offered."""
    return scope.tools[name].protocol.parameters.get(argument, {"enum": "-"}).get("enum")


def test_a_tool_waits_until_its_id_is_known() -> None:
    scope = KnownIds(BOX, TASK).after([])
    assert set(scope.waiting) == {"get_movie_credits", "get_person"}
    assert list(scope.tools) == list(BOX), "a model that has begun a name can end it"
    assert scope.problem("get_movie_credits") == (
        "get_movie_credits was not called, no movie_id is known yet: search_movie or list_movie_popular gives it. "
        "Call that first, and never make up an id."
    )
    assert scope.problem("search_movie") == scope.problem("get_storm") == ""
    assert may_be(scope, "get_storm", "storm_id") is None, "nothing here could ever yield one"
    assert may_be(scope, "search_movie", "query") is None


def test_an_id_takes_results_under_its_name() -> None:
    reach = KnownIds(BOX, TASK)
    found = {"results": [{"id": 7, "title": "Casablanca"}, {"id": 9, "title": "1000"}], "page": 1}
    scope = reach.after([("search_movie", found)])
    assert may_be(scope, "get_movie_credits", "movie_id") == [7, 9]
    assert set(scope.waiting) == {"get_person"}
    cast = {
        "id": 7,
        "cast": [{"person_id": 41, "name": "Bogart"}, {"person_id": 41, "name": "Bogart"}],
    }
    scope = reach.after([("search_movie", found), ("get_movie_credits", cast)])
    assert may_be(scope, "get_person", "person_id") == [41]
    assert may_be(scope, "get_person", "movie_id") == [7, 9]


def test_an_unknown_optional_id_is_not_offered() -> None:
    scope = KnownIds(BOX, TASK).after(
        [("search_person", {"results": [{"id": 41, "name": "Bogart"}]})]
    )
    assert (may_be(scope, "get_person", "person_id"), may_be(scope, "get_person", "movie_id")) == (
        [41],
        "-",
    )


def test_ids_come_from_a_tools_named_list() -> None:
    scope = KnownIds(BOX, TASK).after(
        [("list_movie_popular", {"results": [{"id": 3}], "total": 8000})]
    )
    assert may_be(scope, "get_movie_credits", "movie_id") == [3]


@pytest.mark.parametrize(
    ("task", "known"),
    [
        ("Who plays in movie 4711?", [4711]),
        ("Who plays in movie #12?", [12]),
        ("Who plays in the top 12 movies?", None),
        ("", None),
    ],
)
def test_the_task_may_give_an_id(task: str, known: Any) -> None:
    scope = KnownIds(BOX, task).after([])
    assert may_be(scope, "get_movie_credits", "movie_id") == known
    assert ("get_movie_credits" in scope.waiting) is (bool(task) and not known)


def test_long_results_are_read_only_in_part() -> None:
    found = {"results": [{"id": 7, "title": "x", "tags": list(range(100))} for _ in range(10_000)]}
    assert may_be(
        KnownIds(BOX, TASK).after([("search_movie", found)]), "get_movie_credits", "movie_id"
    ) == [7]
