"""Synthetic queries: what is asked of the model, which replies are taken, and that none is asked for twice."""

import hashlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from atc.models.scripted import ScriptedModel
from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.document import ToolDocument
from atc.retrieve.expand import KINDS, Expansions, expand_all, neighbours
from protocols.ask import Completion
from protocols.errors import ModelUnavailable

RENT = ToolDocument(name="HouseRenting", description="Finds flats to rent.", parameters={"city": "where"})
BUY = ToolDocument(name="HousePurchasing", description="Finds houses for sale.")
SHIPS = ToolDocument(name="ferries", description="When ferries leave.")
ALL = [RENT, BUY, SHIPS]


class Writer:
    """Writes another text for each seed, notes what it is asked, fails at the calls whose numbers are in `fails`."""

    name = "writer"
    prompt_tokens = 4000

    def __init__(self, fails=()):
        self.asked, self._fails, self._lock = [], fails, threading.Lock()

    def __call__(self, messages, *, schema=None, grammar=None, temperature=0.0, seed=0, max_tokens=1024):
        with self._lock:
            number = len(self.asked)
            self.asked.append((messages[-1].content, seed, temperature))
        if number in self._fails:
            raise ModelUnavailable("the endpoint is down")
        said = {}
        for key in schema["properties"]:
            digest = hashlib.sha256(f"{messages[-1].content} {key} {seed}".encode()).hexdigest()
            said[key] = f"please {digest[:8]} {digest[8:16]} {digest[16:24]}"
        return Completion(text=json.dumps(said), model=self.name, input_tokens=10, output_tokens=5)


def said(**texts):
    return json.dumps(texts)


@pytest.fixture
def kept():
    with Expansions() as expansions:
        yield expansions


def test_a_tool_gets_as_many_queries_as_are_wanted_each_sampled_at_0_7(kept):
    model = Writer()
    usage = expand_all([RENT], kept, model, queries=10)
    assert len(set(kept.texts(RENT))) == 10
    assert usage.model_calls == 10
    assert usage.output_tokens == 50
    assert {temperature for _, _, temperature in model.asked} == {0.7}
    assert len({seed for _, seed, _ in model.asked}) == 10


def test_what_is_there_is_not_asked_for_again_and_more_is_added_to_it(kept):
    expand_all(ALL, kept, Writer(), queries=3)
    few = kept.texts(RENT)
    again = Writer()
    assert expand_all(ALL, kept, again, queries=3).model_calls == 0
    expand_all(ALL, kept, again, queries=5)
    assert len(again.asked) == 2 * len(ALL)
    assert kept.texts(RENT)[:3] == few
    assert kept.texts(RENT, most=2) == few[:2]


def test_a_document_that_changed_is_expanded_again_and_nothing_else(kept):
    expand_all(ALL, kept, Writer(), queries=2)
    changed = replace(RENT, description="Finds flats and rooms to rent.")
    assert kept.texts(changed) == ()
    again = Writer()
    expand_all([changed, BUY, SHIPS], kept, again, queries=2)
    assert len(again.asked) == 2
    assert all("rooms" in prompt for prompt, _, _ in again.asked)


def test_another_model_writes_its_own_and_the_fuller_set_counts(kept):
    expand_all([RENT], kept, Writer(), queries=3)
    first, other = kept.texts(RENT), Writer()
    other.name = "other"
    expand_all([RENT], kept, other, queries=1)
    assert len(other.asked) == 1
    assert kept.texts(RENT) == first


def test_an_outage_loses_nothing_and_the_next_call_goes_on(kept):
    broken = Writer(fails={7})
    with pytest.raises(ModelUnavailable, match=r"when 2 of 3 tools were expanded \(the endpoint is down\)") as told:
        expand_all(ALL, kept, broken, queries=3)
    assert "run it again" in str(told.value)
    assert [len(kept.texts(document)) for document in ALL] == [3, 3, 1]
    again = Writer()
    expand_all(ALL, kept, again, queries=3)
    assert len(again.asked) == 2


def test_what_comes_after_an_outage_is_what_would_have_come_without(kept):
    with pytest.raises(ModelUnavailable):
        expand_all(ALL, kept, Writer(fails={4}), queries=3)
    expand_all(ALL, kept, Writer(), queries=3)
    with Expansions() as other:
        expand_all(list(reversed(ALL)), other, Writer(), queries=3, workers=3)
        assert [other.texts(document) for document in ALL] == [kept.texts(document) for document in ALL]


def test_several_workers_lose_nothing_when_the_model_fails_at_one(kept):
    many = [ToolDocument(name=f"t{number}", description=f"does {number}") for number in range(20)]
    with pytest.raises(ModelUnavailable):
        expand_all(many, kept, Writer(fails={25}), queries=2, workers=4)
    before = sum(len(kept.texts(document)) for document in many)
    assert before >= 22
    again = Writer()
    expand_all(many, kept, again, queries=2, workers=4)
    assert len(again.asked) == 40 - before


def test_the_watch_counts_documents_one_of_equal_ones(kept):
    seen = []
    expand_all([*ALL, RENT], kept, Writer(), queries=1, workers=2, watch=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert len(kept) == 3


@pytest.mark.parametrize(
    "bad",
    ["", "no JSON at all", said(query=", , ,"), said(query=""), said(query=RENT.description), said(other="hello there"),
     said(query="flats flats flats " * 9), '["a", "b"]'],
)  # fmt: skip
def test_a_useless_reply_is_asked_for_again_with_another_seed(kept, bad):
    model = ScriptedModel(bad, said(query="a room in Graz under 500 euros"))
    expand_all([RENT], kept, model, queries=1)
    assert kept.texts(RENT) == ("a room in Graz under 500 euros",)
    first, second = (options["seed"] for options in model.options)
    assert first != second


def test_the_same_query_is_not_taken_twice(kept):
    one, other = said(query="a room in Graz under 500 euros"), said(query="a flat in Linz for a family")
    expand_all([RENT], kept, ScriptedModel(one, one, other), queries=2)
    assert kept.texts(RENT) == ("a room in Graz under 500 euros", "a flat in Linz for a family")


@pytest.mark.parametrize("leak", ["Ask HouseRenting for a flat in Graz", "use house renting to find me a flat"])
def test_a_query_with_the_tools_name_is_written_again_by_a_model_that_does_not_see_the_name(kept, leak):
    model = ScriptedModel(said(query=leak), said(query="a room in Graz under 500 euros"))
    expand_all([RENT], kept, model, queries=1)
    assert kept.texts(RENT) == ("a room in Graz under 500 euros",)
    assert "HouseRenting" in model.prompts[0][-1].content
    assert "HouseRenting" not in model.prompts[1][-1].content


def test_a_name_that_the_description_says_too_is_a_common_word(kept):
    expand_all([SHIPS], kept, ScriptedModel(said(query="which ferries leave Split today?")), queries=1)
    assert kept.texts(SHIPS) == ("which ferries leave Split today?",)


def test_a_model_that_never_says_anything_of_use_is_given_up_and_not_asked_again(kept):
    expand_all([RENT], kept, ScriptedModel(*["nonsense"] * 4), queries=1)
    assert kept.texts(RENT) == ()
    assert len(kept) == 0
    assert expand_all([RENT], kept, ScriptedModel(), queries=1).model_calls == 0


def test_facets_are_gathered_from_several_replies(kept):
    keys = KINDS["facets"].keys
    half = {key: f"a text about {key} with words" for key in keys[:4]}
    rest = {key: f"another text about {key} with words" for key in keys}
    expand_all([RENT], kept, ScriptedModel(said(**half), said(**rest)), kinds=["facets"])
    assert kept.texts(RENT, ["facets"]) == tuple({**rest, **half}[key] for key in keys)
    assert kept.texts(RENT, ["queries", "facets"], most=2) == kept.texts(RENT, ["facets"])[:2]


def test_contrast_shows_the_nearest_others(kept):
    model = Writer()
    expand_all([RENT], kept, model, kinds=["contrast"], near=lambda document: [BUY])
    (prompt, _, _) = model.asked[0]
    assert "houses for sale" in prompt
    assert "ferries" not in prompt
    with pytest.raises(ValueError, match="near"):
        expand_all([RENT], kept, model, kinds=["contrast"])


def test_neighbours_are_the_other_documents_that_a_ranker_finds():
    pytest.importorskip("bm25s")
    from atc.retrieve.lexical import Lexical

    ranker = Lexical.build([document.name for document in ALL], [document.description for document in ALL])
    assert neighbours(ALL, ranker, count=1)(RENT) == [BUY]


def test_expansions_outlive_their_process_and_are_shared(tmp_path):
    with Expansions(tmp_path / "index") as first, Expansions(tmp_path / "index") as second:
        expand_all([RENT], first, Writer(), queries=2)
        assert second.texts(RENT) == first.texts(RENT)
        expand_all([BUY], second, Writer(), queries=2)
        assert len(first) == 2
    assert Expansions.stands(tmp_path / "index")
    assert not Expansions.stands(tmp_path)
    with Expansions(tmp_path / "index") as again:
        assert len(again.texts(RENT)) == 2


def test_threads_may_write_at_once(tmp_path):
    many = [ToolDocument(name=f"t{number}", description=f"does {number}") for number in range(12)]
    with Expansions(tmp_path) as kept, ThreadPoolExecutor(4) as pool:
        for part in [pool.submit(expand_all, many[start::4], kept, Writer(), queries=2) for start in range(4)]:
            part.result()
        assert len(kept) == 12


@pytest.mark.parametrize("damage", ["not a database, not at all " * 50, None])
def test_a_file_that_cannot_be_used_is_told(tmp_path, damage):
    place = tmp_path / "expansions.sqlite"
    if damage is None:
        place.mkdir()
    else:
        place.write_text(damage)
    with pytest.raises(RetrievalUnavailable, match=r"expansions.sqlite' cannot be used: .+; free the file"):
        Expansions(tmp_path)


def test_a_file_of_another_version_is_told(tmp_path):
    import sqlite3

    database = sqlite3.connect(tmp_path / "expansions.sqlite")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(RetrievalUnavailable, match="version 99"):
        Expansions(tmp_path)
