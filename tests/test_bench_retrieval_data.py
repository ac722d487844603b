"""Data sets of tools and queries, whichever way they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolflow_bench.retrieval.data import InvalidRetrievalData, RetrievalQuery, draw
from toolflow_bench.retrieval.data_labelled import labelled
from toolflow_bench.retrieval.data_toolflow import read_toolflow, with_links
from toolflow_bench.retrieval.data_tools import read_tool
from toolflow_bench.retrieval.load import load_data

DATA = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")


def _written(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_general_format(tmp_path: Path) -> None:
    path = _written(
        tmp_path / "mine.json",
        {
            "tools": [{"id": "mail", "name": "Mail", "description": "Sends mail."}, {"name": "maps"}],
            "queries": [{"id": 7, "query": "Write to Ann.", "gold": ["mail", "mail"]}],
        },
    )
    data = load_data(path)
    assert data.name == "mine"
    assert [document.name for document in data.documents] == ["mail", "maps"]
    assert (data.documents[0].title, data.documents[0].description) == ("Mail", "Sends mail.")
    assert data.queries == (RetrievalQuery(id="7", text="Write to Ann.", gold=("mail",)),)


@pytest.mark.parametrize(
    ("tools", "queries"),
    [
        ({"corpus": {"mail": "Sends mail.", "maps": {"desc": "F"}}}, {"questions": [{"text": "q", "labels": "mail"}]}),
        ({"apis": [{"tool_id": "mail"}, {"tool_id": "maps"}]}, {"tasks": [{"input": "q", "gold": [{"id": "mail"}]}]}),
        ({"functions": [{"name": "mail"}, {"name": "maps"}]}, {"data": [{"question": "q", "tools": ["mail"]}]}),
    ],
)  # fmt: skip
def test_other_names_of_fields(tools: dict[str, Any], queries: dict[str, Any]) -> None:
    data = labelled({**tools, **queries}, name="x", where="x")
    assert [document.name for document in data.documents] == ["mail", "maps"]
    assert [(query.text, query.gold) for query in data.queries] == [("q", ("mail",))]


def test_folder_of_two_files(tmp_path: Path) -> None:
    _written(tmp_path / "tools.json", {"tools": [{"id": "a"}]})
    _written(tmp_path / "queries.json", [{"query": "q", "gold": ["a"]}])
    assert load_data(tmp_path).queries[0].gold == ("a",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([1, 2], "there is no list of tools"),
        ({"tools": [{"description": "nameless"}]}, "tool 0 has no 'id'"),
        ({"tools": [{"id": "a"}], "queries": [{"gold": ["a"]}]}, "query 0 has no text"),
        ({"tools": [{"id": "a"}], "queries": [{"query": "q"}]}, "query 0 does not say in 'gold'"),
        ({"tools": [{"id": "a"}, {"id": "a"}]}, "two tools are called 'a'"),
        ({"tools": []}, "there is no tool"),
    ],
)
def test_what_is_no_data_is_refused_with_what_is_expected(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(InvalidRetrievalData, match=said):
        load_data(_written(tmp_path / "odd.json", content))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidRetrievalData, match="there is nothing at"):
        load_data(tmp_path / "absent.json")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidRetrievalData, match="is not JSON"):
        load_data(tmp_path / "broken.json")


def test_defects_are_noted_and_nothing_is_asked_that_has_no_tool() -> None:
    queries = [
        {"id": 1, "query": "Same words", "gold": ["a"]},
        {"id": 2, "query": "same  WORDS", "gold": ["b"]},
        {"id": 3, "query": "gone", "gold": ["c"]},
        {"id": 4, "query": "half", "gold": ["a", "c"]},
    ]
    data = labelled({"tools": [{"id": "a"}, {"id": "b"}], "queries": queries}, name="x", where="x")
    assert [(query.id, query.gold) for query in data.queries] == [("1", ("a",)), ("2", ("b",)), ("4", ("a",))]
    assert len(data.notes) == 2
    assert data.notes[0].startswith("1 gold tools are not among the tools ('c'")
    assert data.notes[1].startswith("1 texts are asked more than once with different gold tools (2 queries)")


def test_a_tool_as_each_format_writes_it() -> None:
    toolbench = read_tool(
        {
            "category_name": "Mail", "tool_name": "Post", "api_name": "send", "api_description": "Sends.",
            "required_parameters": [{"name": "to", "description": "Whom"}], "optional_parameters": [{"name": "cc"}],
            "template_response": {"id": "str", "parts": [{"size": "int"}]},
        }
    )  # fmt: skip
    assert (toolbench.category, toolbench.collection, toolbench.description) == ("Mail", "Post", "Sends.")
    assert (toolbench.parameters, toolbench.required) == ({"to": "Whom", "cc": ""}, ("to",))
    assert toolbench.returns == ("id", "parts", "size")
    schema = {"type": "object", "properties": {"to": {"type": "string", "description": "Whom"}}, "required": ["to"]}
    output = {"allOf": [{"properties": {"id": {"type": "string"}}}, {"properties": {"at": {"type": "string"}}}]}
    listed = read_tool({"name": "send", "inputSchema": schema, "outputSchema": output})
    assert (listed.parameters, listed.required, listed.returns) == ({"to": "Whom"}, ("to",), ("id", "at"))
    rest = read_tool(
        {
            "id": "PUT /mail", "summary": "Send",
            "parameters": [{"name": "to", "in": "path", "required": "true", "schema": {"description": "Whom"}}],
            "request_body": {"content": {"application/json": {"schema": {"properties": {"text": {}}}}}},
        }
    )  # fmt: skip
    assert (rest.name, rest.title) == ("PUT /mail", "Send")
    assert (rest.parameters, rest.required) == ({"to": "Whom", "text": ""}, ("to",))


def test_stabletoolbench_names_apis_by_tool(tmp_path: Path) -> None:
    apis = [
        {"id": f"Mail/{tool}/Health", "category_name": "Mail", "tool_name": tool, "api_name": "Health"}
        for tool in ("A", "B")
    ]
    _written(tmp_path / "apis.json", apis)
    _written(
        tmp_path / "queries_g1.json", [{"id": "q", "query": "Is B up?", "gold": ["Mail/B/Health"], "group": "G1_tool"}]
    )
    _written(tmp_path / "queries_g2.json", [{"query": "And A?", "relevant APIs": [["A", "Health"]]}])
    for path in (tmp_path, tmp_path / "apis.json"):
        data = load_data(path)
        assert [(d.name, d.title, d.category, d.collection) for d in data.documents] == [
            ("A/Health", "", "Mail", "A"),
            ("B/Health", "", "Mail", "B"),
        ]
        assert [(query.gold, query.group) for query in data.queries] == [
            (("B/Health",), "G1_tool"),
            (("A/Health",), "queries_g2"),
        ]
    assert [query.gold for query in load_data(tmp_path / "queries_g2.json").queries] == [("A/Health",)]


def test_restbench_joins_its_apis_and_reads_gold_paths(tmp_path: Path) -> None:
    for api in ("tmdb", "spotify"):
        _written(tmp_path / f"{api}_tools.json", [{"id": f"GET /{api}/{{movie_id}}", "summary": "Get"}])
        _written(
            tmp_path / f"{api}_tasks.json",
            [{"id": f"{api}-0", "query": "q", "gold_path": [f"GET /{api}/{{id}}", f"GET /{api}/{{id}}"]}],
        )
    data = load_data(tmp_path)
    assert {document.name for document in data.documents} == {"GET /tmdb/{movie_id}", "GET /spotify/{movie_id}"}
    assert {(query.group, query.gold) for query in data.queries} == {
        ("tmdb", ("GET /tmdb/{movie_id}",)),
        ("spotify", ("GET /spotify/{movie_id}",)),
    }
    alone = load_data(tmp_path / "tmdb_tasks.json")
    assert [document.name for document in alone.documents] == ["GET /tmdb/{movie_id}"]
    assert [query.group for query in alone.queries] == ["tmdb"]


def test_livemcp_prefixes_names_that_several_servers_have(tmp_path: Path) -> None:
    listing = {"tools": [{"name": "search", "description": "Finds."}]}
    servers = [
        {"name": "One", "category": "News", "tools": {"one": listing}},
        {"name": "Two", "category": "Maps", "tools": {"two": {"tools": [*listing["tools"], {"name": "route"}]}}},
    ]
    data = load_data(_written(tmp_path / "tools.json", servers))
    assert [(d.name, d.collection, d.category) for d in data.documents] == [
        ("one/search", "one", "News"),
        ("two/search", "two", "Maps"),
        ("route", "two", "Maps"),
    ]
    assert not data.queries


def test_toolflow_needs_no_running_service() -> None:
    found = read_toolflow()
    names = {document.name for document in found.data.documents}
    assert len(names) > 100
    assert all(set(query.gold) <= names for query in found.data.queries)
    assert found.needing_ids < {query.id for query in found.data.queries}


def test_links_of_one_kind_alone() -> None:
    toolbox = read_toolflow().toolbox
    support = {
        kind: {link.support for tool in with_links(toolbox, kind).values() for link in tool.protocol.links}
        for kind in ("declared", "guessed")
    }
    assert support == {"declared": {"declared"}, "guessed": {"guessed"}}
    given = {"flights": {"get_flight": next(iter(toolbox.values())).protocol}}
    probed = with_links(toolbox, "probed", given)
    linked = {name for name, tool in probed.items() if tool.protocol.links}
    assert linked <= {"get_flight"}


def test_draw_is_by_seed_and_ids_alone() -> None:
    queries = [RetrievalQuery(id=str(number), text="", gold=("a",)) for number in range(50)]
    drawn = draw(queries, 10, seed=3)
    assert len(drawn) == 10
    assert {query.id for query in drawn} == {query.id for query in draw(queries[::-1], 10, seed=3)}
    assert [query.id for query in drawn] == sorted((query.id for query in drawn), key=int)
    assert drawn != draw(queries, 10, seed=4)
    assert draw(queries, 99, seed=3) == tuple(queries)


@needs_data
@pytest.mark.parametrize(
    ("name", "tools", "queries"),
    [
        ("toole/single_dev.json", 199, 2000),
        ("toole/multi_dev.json", 199, 248),
        ("stabletoolbench", 2490, 474),
        ("restbench", 94, 157),
        ("livemcp/tools.json", 527, 0),
    ],
)
def test_real_data(name: str, tools: int, queries: int) -> None:
    data = load_data(DATA / name)
    assert (len(data.documents), len(data.queries)) == (tools, queries)
    assert not any("gold tools" in note for note in data.notes)
