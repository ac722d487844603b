"""`atc tools search` and `atc tools index`, as a person uses them."""

import json

import pytest

SOURCE = '''
def find_person(name: str) -> list:
    """People by their name.

    Returns ids.
    """
    return []


def get_credits(person_id: int) -> list:
    """Films in which a person played."""
    return []


def list_rivers() -> list:
    """The rivers of a country and how long they are."""
    return []
'''


@pytest.fixture
def run(atc_, own_folders):
    """`atc tools …` over the films: exit code, stdout and stderr."""
    (own_folders / "films.py").write_text(SOURCE)
    return lambda *arguments: atc_("tools", *arguments, "--tools", "films.py")


def test_a_search_by_words_lists_the_best_first(run):
    result = run("search", "long", "rivers", "-k", "2", "--method", "bm25")
    assert result[0] == 0
    assert result[1].split()[1] == "list_rivers"
    assert "get_credits" not in result[1]


def test_explain_says_how_in_json_too(run):
    report = json.loads(run("search", "rivers", "--method", "bm25", "--explain", "--json")[1])
    assert (report["method"], report["transcript"], report["usage"]["model_calls"]) == (
        "bm25",
        [],
        0,
    )
    assert [hit["alias"] for hit in report["hits"]] == ["list_rivers"]
    assert run("search", "rivers", "--method", "bm25", "--explain")[2].splitlines()[-1] == "bm25"


def test_an_empty_search_says_how_to_continue(run):
    result = run("search", "zymurgy", "--method", "bm25")
    assert result[:2] == (0, "")
    assert "None of the 3 tools fits 'zymurgy'; 'atc tools list' shows all." in result[2]


def test_a_method_that_there_is_not_says_so(run):
    code, _, err = run("search", "x", "--method", "bm24")
    assert (code, "no method of search is named 'bm24'; did you mean 'bm25'?" in err) == (2, True)


def test_an_index_reads_only_what_changed(run, tmp_path, monkeypatch):
    monkeypatch.setenv("ATC_INDEX", "kept")
    made = json.loads(run("index", "--words-only", "--json")[1])
    assert (made["tools"], made["embedder"], made["expanded"]) == (3, None, 0)
    (tmp_path / "films.py").write_text(SOURCE.replace("rivers of a country", "lakes of a country"))
    hits = json.loads(run("search", "lakes", "--method", "bm25", "--json")[1])
    assert [hit["alias"] for hit in hits] == ["list_rivers"]
    assert "3 tools: words alone, " in run("index", "--words-only")[1]


def test_questions_are_asked_of_the_model_once(run, tmp_path):
    reply = json.dumps({"query": "Where does the longest water of Austria flow to?"})
    (tmp_path / "script.json").write_text(json.dumps([reply] * 400))
    arguments = ("index", "--words-only", "--expand", "--model", "scripted:script.json", "--json")
    first, second = (json.loads(run(*arguments)[1]) for _ in range(2))
    assert first["expanded"] == second["expanded"] == 3
    assert first["model_calls"] > 0
    assert second["model_calls"] == 0
