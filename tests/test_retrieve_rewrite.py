"""Query expansion: what the model is asked, what is searched, and what becomes of replies that are of no use."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.models.scripted import ScriptedModel
from atc.retrieve.base import Ranked
from atc.retrieve.best import best
from atc.retrieve.document import ToolDocument, words_text
from atc.retrieve.rewrite import METHODS, Rewriter
from atc.retrieve.rewrite.opening import opening
from atc.retrieve.rewrite.samples import fault, read_search, read_tool
from atc.retrieve.tally import Tally
from atc.types import Usage
from protocols.ask import Completion, Message, Powers
from protocols.errors import ModelUnavailable

DOCUMENTS = {
    document.name: document
    for document in (
        ToolDocument(name="bake", description="Recipes for bread and cake."),
        ToolDocument(name="forecast", description="Rain and wind of a city.", parameters={"city": "its name"}),
        ToolDocument(name="ferry", description="Timetables of boats between islands."),
    )
}
QUERY = "Do I need an umbrella in Bergen?"
TOOL = {"name": "weather", "description": "Rain forecast.", "parameters": ["city"]}
SEARCH = {"search": ["rain forecast", "wind of a city"]}


class WordRanker:
    """Scores a document by how many different words it shares with a view; remembers the views."""

    def __init__(self, documents=DOCUMENTS):
        self.names = list(documents)
        self.views = []
        self._texts = [set(words_text(document).lower().replace(".", " ").split()) for document in documents.values()]

    def scores(self, views, positions=None):
        wanted = [set(" ".join([view] if isinstance(view, str) else view).lower().split()) for view in views]
        found = np.array([[len(words & text) for text in self._texts] for words in wanted], np.float32)
        return found if positions is None else found[:, positions]

    def top(self, views, *, n):
        self.views += views
        if not self.names:
            return [Ranked(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in views]
        return [best(row, self.names, n=n) for row in self.scores(views)]


def rewriter(method, *replies, ranker=None, **options):
    model = ScriptedModel(*(reply if isinstance(reply, str | Exception) else json.dumps(reply) for reply in replies))
    ranker = ranker or WordRanker()
    return Rewriter(ranker, model, method, documents=DOCUMENTS, text=words_text, **options), model, ranker


IMAGINED = words_text(ToolDocument(name="weather", description="Rain forecast.", parameters={"city": ""}))
WRITTEN = "rain forecast, wind of a city"


@pytest.mark.parametrize(
    ("method", "reply", "view"),
    [
        ("hyde", TOOL, (QUERY, *[IMAGINED] * 5)),
        ("hyde-prf", TOOL, (QUERY, *[IMAGINED] * 5)),
        ("hyde-1shot", TOOL, (IMAGINED,)),
        ("q2d", TOOL, (f"{QUERY}\n{IMAGINED}",) * 5),
        ("q2d-prf", TOOL, (f"{QUERY}\n{IMAGINED}",) * 5),
        ("q2e", SEARCH, (f"{QUERY}\n{WRITTEN}",) * 5),
        ("q2e-prf", SEARCH, (f"{QUERY}\n{WRITTEN}",) * 5),
    ],
)
def test_what_is_searched_is_put_together_as_the_method_says(method, reply, view):
    tested, model, ranker = rewriter(method, *[reply] * METHODS[method].samples)
    found = tested.search(QUERY, k=2)
    assert ranker.views[-1] == view
    assert found.hits[0].tool == "forecast"
    assert len(found.hits) == 2
    assert found.usage.model_calls == METHODS[method].samples == len(model.prompts)
    assert found.usage.output_tokens > 0


def test_every_method_of_the_table_is_tested():
    assert set(METHODS) == {"hyde", "hyde-prf", "hyde-1shot", "q2d", "q2d-prf", "q2e", "q2e-prf"}


def test_samples_differ_by_seed_and_are_drawn_with_temperature():
    tested, model, _ = rewriter("q2e", *[SEARCH] * 3, samples=3, seed=7)
    tested.search(QUERY, k=1)
    assert [options["seed"] for options in model.options] == [7, 8, 9]
    assert {options["temperature"] for options in model.options} == {0.7}
    assert {options["max_tokens"] for options in model.options} == {256}


def test_the_single_sample_of_hyde_as_re_invoke_has_it_is_greedy():
    tested, model, _ = rewriter("hyde-1shot", TOOL)
    tested.search(QUERY, k=1)
    assert [options["temperature"] for options in model.options] == [0.0]


def test_feedback_shows_what_the_query_alone_finds_and_nothing_else_does():
    query = "wind on the boats between islands"
    tested, model, ranker = rewriter("hyde-prf", *[TOOL] * 5, feedback=2)
    found = tested.search(query, k=1)
    assert ranker.views[0] == query
    asked = model.prompts[0][-1].content
    assert "- ferry: Timetables of boats" in asked
    assert "(parameters: city)" in asked
    assert "bake" not in asked
    assert found.transcript[0] == "shown to the model: ferry, forecast"


def test_without_feedback_no_tool_is_shown():
    tested, model, ranker = rewriter("q2d", *[TOOL] * 5)
    tested.search(QUERY, k=1)
    assert len(ranker.views) == 1
    assert not any(name in message.content for message in model.prompts[0] for name in DOCUMENTS)


def test_feedback_of_none_asks_as_if_there_were_no_first_pass():
    tested, model, _ = rewriter("q2d-prf", *[TOOL] * 5, feedback=0)
    tested.search(QUERY, k=1)
    assert model.prompts[0] == opening(METHODS["q2d"], QUERY, [])


@pytest.mark.parametrize(
    ("useless", "why"),
    [
        ("", "empty or unreadable"),
        ("I cannot help with that.", "empty or unreadable"),
        ({"name": "x", "description": " ", "parameters": []}, "empty or unreadable"),
        ({"name": "x", "description": ", . 3", "parameters": []}, "empty or unreadable"),
        ({"name": "x", "description": "do i need an UMBRELLA in bergen", "parameters": []}, "a copy of what"),
        ({"name": "x", "description": "the tool " * 20, "parameters": []}, "one phrase over and over"),
        ('{"name": "x", "description": "cut off', "empty or unreadable"),
    ],
)
def test_a_useless_sample_is_left_out_and_said(useless, why):
    tested, _, ranker = rewriter("hyde", useless, *[TOOL] * 4)
    found = tested.search(QUERY, k=1)
    assert ranker.views[-1] == (QUERY, *[IMAGINED] * 4)
    assert found.transcript[0].startswith(f"tool 1: left out, it is {why}")
    assert "Rain forecast." in found.transcript[1]
    assert found.usage.model_calls == 5


def test_a_copy_of_the_example_is_left_out():
    example = opening(METHODS["hyde-1shot"], QUERY, [])[2].content
    tested, _, ranker = rewriter("hyde-1shot", example)
    tested.search(QUERY, k=1)
    assert ranker.views[-1] == QUERY


def test_a_search_that_repeats_one_phrase_is_left_out():
    tested, _, ranker = rewriter("q2e", *[{"search": ["baseball bat"] * 6}] * 5)
    tested.search(QUERY, k=1)
    assert ranker.views[-1] == QUERY


def test_where_no_sample_is_of_use_the_query_alone_is_searched():
    tested, _, ranker = rewriter("q2d", *["no"] * 5)
    found = tested.search("rain of a city", k=1)
    assert ranker.views[-1] == "rain of a city"
    assert found.transcript[-1] == "no sample is of use: the query alone was searched"
    assert [hit.tool for hit in found.hits] == ["forecast"]
    assert found.usage.model_calls == 5


def test_an_outage_of_the_model_is_not_a_result():
    tested, _, _ = rewriter("q2e", SEARCH, ModelUnavailable("no answer"))
    with pytest.raises(ModelUnavailable, match="no answer"):
        tested.search(QUERY, k=1)


@pytest.mark.parametrize("blank", ["", "  \n"])
def test_a_blank_query_asks_no_model(blank):
    tested, model, _ = rewriter("hyde-prf")
    assert tested.search(blank, k=3).usage.model_calls == len(model.prompts) == 0


def test_an_empty_index_asks_no_model():
    tested, model, _ = rewriter("q2d-prf", ranker=WordRanker({}))
    assert tested.search(QUERY, k=3).hits == ()
    assert model.prompts == []


@pytest.mark.parametrize("method", ["q2e-prf", "hyde-1shot"])
def test_a_very_long_query_is_searched_whole_and_shown_in_part(method):
    query = "rain " * 20_000
    documents = {"long": ToolDocument(name="long", description="rain " * 5000, parameters=dict.fromkeys("ab", ""))}
    model = ScriptedModel(*[json.dumps(TOOL | SEARCH)] * 5)
    ranker = WordRanker(documents)
    found = Rewriter(ranker, model, method, documents=documents).search(query, k=1)
    assert sum(len(message.content) for message in model.prompts[0]) < 8000
    if method == "q2e-prf":
        assert ranker.views[-1][0].startswith(query)
    assert [hit.tool for hit in found.hits] == ["long"]


class Crowd:
    """A model that answers nobody before `together` requests have come; the seed `down` is not answered."""

    name, prompt_tokens, powers = "crowd", 4000, Powers(parallel=True)

    def __init__(self, together, down=None):
        self._met, self._down = threading.Barrier(together), down

    def __call__(self, messages, *, seed, **_):
        self._met.wait(timeout=10)
        if seed == self._down:
            raise ModelUnavailable("away")
        return Completion(text=json.dumps({"search": [f"tool {seed}"]}), model="m", output_tokens=1)


def test_samples_are_asked_for_side_by_side_where_the_endpoint_takes_several():
    found = Rewriter(WordRanker(), Crowd(5), "q2e", documents=DOCUMENTS).search("query", k=1)
    assert found.transcript == tuple(f"search {number + 1}: tool {number}" for number in range(5))
    assert found.usage.model_calls == 5
    with pytest.raises(ModelUnavailable, match="away"):
        Rewriter(WordRanker(), Crowd(5, down=3), "q2e", documents=DOCUMENTS).search("query", k=1)


def test_searches_at_once_do_not_mix():
    def ask(messages, **_):
        wanted = messages[-1].content.split()[-1]
        return Completion(text=json.dumps({"search": [f"tool {wanted}"]}), model="m", output_tokens=1)

    tested = Rewriter(WordRanker(), ask, "q2e", documents=DOCUMENTS)
    with ThreadPoolExecutor(8) as pool:
        for number, found in enumerate(pool.map(lambda n: tested.search(f"query {n}", k=1), range(40))):
            assert found.transcript == tuple(f"search {sample + 1}: tool {number}" for sample in range(5))
            assert found.usage.model_calls == 5


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        (["city", "day"], ["city", "day"]),
        ({"city": {"type": "string"}}, ["city"]),
        ([{"name": "city", "type": "STRING"}, {"kind": "x"}, 3], ["city"]),
        ("city", []),
        (None, []),
    ],
)
def test_parameters_are_read_in_the_forms_that_models_use(parameters, names):
    tool = read_tool(json.dumps({"name": "n", "description": "d", "parameters": parameters}))
    assert list(tool.parameters) == names


def test_a_reply_in_a_code_fence_is_read():
    assert read_search('Here it is:\n```json\n{"search": ["a b", "c"]}\n```\n') == "a b, c"
    assert read_search('{"search": "one phrase"}') == "one phrase"


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.recursive(
            st.none() | st.text(),
            lambda s: (
                st.lists(s) | st.dictionaries(st.sampled_from(["name", "description", "parameters", "search"]), s)
            ),
        ).map(json.dumps),
    )
)
def test_any_reply_can_be_read(reply):
    tool, search = read_tool(reply), read_search(reply)
    for text in (tool.description, search):
        assert fault(text, given=[]) in {None, "empty or unreadable", "one phrase over and over"}
        assert (text.strip() == "") <= (fault(text, given=[]) == "empty or unreadable")
        assert "\n" not in text


def test_a_ranker_and_a_rewriter_find_what_the_query_alone_does_not():
    alone, _, _ = rewriter("q2d", *["no"] * 5)
    expanded, _, _ = rewriter("q2d", *[TOOL] * 5)
    assert alone.search(QUERY, k=1).hits[0].score == 0
    assert expanded.search(QUERY, k=1).hits[0].tool == "forecast"


def test_a_tally_counts_from_what_it_is_given_and_passes_everything_on():
    model = ScriptedModel("two words", name="scripted")
    tally = Tally(model, Usage(model_calls=3, input_tokens=10, output_tokens=20, model_seconds=1.5))
    schema = {"type": "object"}
    reply = tally([Message("user", "a b c")], schema=schema, temperature=0.5, seed=9, max_tokens=7)
    assert reply.text == "two words"
    assert tally.usage == Usage(model_calls=4, input_tokens=13, output_tokens=22, model_seconds=1.5)
    options = {"schema": schema, "grammar": None, "temperature": 0.5, "seed": 9, "max_tokens": 7}
    assert model.options == [options]
    assert (tally.name, tally.prompt_tokens) == (model.name, model.prompt_tokens)


def test_a_tally_counts_calls_of_many_threads_and_none_that_failed():
    def ask(messages, **_):
        if messages[0].content == "0":
            raise ModelUnavailable("gone")
        return Completion(text="", model="m", input_tokens=1, output_tokens=2, seconds=0.25)

    def one(number):
        try:
            tally([Message("user", str(number % 4))])
        except ModelUnavailable:
            return 1
        return 0

    tally = Tally(ask)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(400))) == 100
    assert tally.usage == Usage(model_calls=300, input_tokens=300, output_tokens=600, model_seconds=75.0)
