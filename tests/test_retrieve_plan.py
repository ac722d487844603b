"""ToolQP: a plan, queries with what was found, one ranking, and an end whatever the model writes."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("numpy")
import numpy as np

from atc.config import InvalidConfig
from atc.models.scripted import ScriptedModel
from atc.retrieve.base import Hit, Ranked, Retrieval
from atc.retrieve.document import ToolDocument
from atc.retrieve.plan import Options, PromptedPlanner, ToolQP, TrainedPlanner
from atc.types import Usage
from protocols.errors import ModelUnavailable

TOOLS = {
    "change_password": "Change the password of a user; needs an access token",
    "get_token": "Get the access token of a user by name and password",
    "list_books": "List books by an author",
    "send_mail": "Send a mail to an address",
    "weather_today": "Forecast of the weather in a city today",
    "weather_week": "Forecast of the weather in a city this week",
}
DOCUMENTS = {name: ToolDocument(name=name, description=about) for name, about in TOOLS.items()}
NAMES = sorted(TOOLS)


BOOKS = '<task_breakdown>\nBooks are needed.\n</task_breakdown>\n<sub_goals>\n["List books."]\n</sub_goals>'


class Overlap:
    """A ranker by the share of a query's words that a document has."""

    names = NAMES

    def scores(self, views, positions=None):
        rows = [[self._score(view, name) for name in NAMES] for view in views]
        return np.array(rows, dtype=np.float32)[:, slice(None) if positions is None else positions]

    def top(self, views, *, n):
        found = []
        for row in self.scores(views):
            order = [position for position in sorted(range(len(NAMES)), key=lambda at: (-row[at], at)) if row[position]]
            found.append(Ranked(np.array(order[:n], dtype=np.int64), row[order[:n]]))
        return found

    def _score(self, view, name):
        words = set(view.lower().split())
        return len(words & set(f"{name} {TOOLS[name]}".lower().replace(";", "").split())) / len(words)


def plan(*goals, about="It takes tools."):
    return json.dumps({"plan": about, "sub_goals": list(goals)})


def asks(query, serves=None):
    return json.dumps(({} if serves is None else {"serves": serves}) | {"query": query})


def searched(model, task="Change my password", *, k=5, base=None, planner=PromptedPlanner, **options):
    return ToolQP(base or Overlap(), DOCUMENTS, planner(model), options=Options(**options)).search(task, k=k)


def tools(found):
    return [hit.tool for hit in found.hits]


def test_a_prerequisite_that_the_task_does_not_name_is_planned_for_and_found():
    model = ScriptedModel(
        plan("Get an access token.", "Change the password of a user."),
        asks("get access token by name and password"),
        asks("change password", serves="get_token"),
        asks("", serves="change_password"),
    )
    found = searched(model)
    assert set(tools(found)[:2]) == {"change_password", "get_token"}
    assert found.transcript == (
        "own query → change_password, get_token",
        "plan: It takes tools.",
        "sub-goal 1: Get an access token.",
        "sub-goal 2: Change the password of a user.",
        "query 1 for sub-goal 1: get access token by name and password → get_token, change_password, list_books",
        "query 2 for sub-goal 2: change password → change_password, get_token",
        "stopped: every sub-goal has a tool",
    )
    assert found.usage.model_calls == 4


def test_the_plan_is_greedy_and_queries_are_sampled():
    model = ScriptedModel(plan("Forecast."), asks("weather forecast"), asks("", serves="weather_today"))
    searched(model, seed=3)
    assert [(one["temperature"], one["seed"]) for one in model.options] == [(0.0, 3000), (0.5, 3001), (0.5, 3002)]


def test_the_model_sees_the_best_five_with_their_descriptions_and_may_name_one_of_them_or_none():
    model = ScriptedModel(plan("Forecast."), asks("weather a"), asks("", serves="weather_today"))
    searched(model, shown=2)
    shown = model.prompts[2][-1].content
    assert "1. weather_today: Forecast of the weather in a city today\n2. weather_week: Forecast" in shown
    assert "3." not in shown
    assert model.options[2]["schema"]["properties"]["serves"]["enum"] == ["weather_today", "weather_week", "none"]


def test_a_sub_goal_that_nothing_serves_is_tried_thrice_then_the_next_has_its_turn():
    model = ScriptedModel(
        plan("Fly.", "Send a mail."),
        asks("book a flight"),
        asks("flight booking", serves="none"),
        asks("airline ticket", serves="none"),
        asks("send mail to address"),
        asks("", serves="send_mail"),
    )
    found = searched(model, "Fly and tell them")
    assert "Leave sub-goal 1" in model.prompts[4][-1].content
    assert tools(found)[0] == "send_mail"


def test_what_the_model_was_told_before_is_told_again_word_for_word():
    model = ScriptedModel(
        plan("A.", "B."), asks("weather"), asks("mail", serves="weather_today"), asks("x", serves="none"), asks("")
    )
    searched(model)
    for earlier, later in zip(model.prompts, model.prompts[1:], strict=False):
        assert later[: len(earlier)] == earlier


def test_at_most_ten_queries_are_written():
    model = ScriptedModel(plan(*"ABCDEF"), *[asks(f"query {n}", serves="none" if n % 3 else None) for n in range(10)])
    found = searched(model)
    assert len(model.prompts) == 11
    assert found.transcript[-1] == "stopped: 10 queries are the most"


@pytest.mark.parametrize(
    "reply", ["", "no JSON", "[1, 2]", '{"plan": "x"}', '{"sub_goals": ["a", ', plan(""), "{" * 5000]
)
def test_without_a_plan_the_task_is_the_sub_goal(reply):
    found = searched(ScriptedModel(reply, asks("weather forecast"), asks("", serves="weather_today")))
    assert "the plan is no use: it names no sub-goal, so the task is taken as one" in found.transcript
    assert "sub-goal 1: Change my password" in found.transcript
    assert "weather_today" in tools(found)


def test_an_endless_plan_is_cut():
    model = ScriptedModel(plan(*[f"goal {n}" for n in range(50)]), *[asks("")] * 30)
    assert sum(line.startswith("sub-goal") for line in searched(model).transcript) == 6


def test_a_query_that_is_repeated_is_not_searched_again_and_ends_the_search():
    calls = []

    class Base:
        def search(self, query, *, k):
            calls.append(query)
            return Retrieval(hits=(Hit("list_books", 1.0),))

    model = ScriptedModel(BOOKS, *["Same query", "same  query"] * 9)
    found = searched(model, base=Base(), planner=TrainedPlanner)
    assert calls == ["Change my password", "Same query"]
    assert found.transcript[-1] == "stopped: the model repeats its queries"
    assert tools(found) == ["list_books"]


def test_where_the_model_writes_no_query_the_sub_goal_is_one():
    found = searched(ScriptedModel(plan("Weather forecast"), asks(" "), asks("", serves="weather_today")))
    assert any(line.startswith("query 1 for sub-goal 1: Weather forecast → weather_today") for line in found.transcript)


def test_where_the_model_repeats_its_query_for_the_next_sub_goal_that_one_is_the_query():
    model = ScriptedModel(
        plan("Books.", "Send mail"),
        asks("books by an author"),
        asks("Books by an author", serves="list_books"),
        asks("Send mail", serves="none"),
    )
    found = searched(model)
    assert tools(found)[:2] in (["list_books", "send_mail"], ["send_mail", "list_books"])
    assert found.transcript[-2:] == (
        "query 3 for sub-goal 2 (asked before): Send mail → send_mail",
        "stopped: no tool was found for the last sub-goal",
    )


def test_the_own_query_can_be_left_out():
    model = [plan("Books."), asks("books by an author"), asks("", serves="list_books")]
    assert "change_password" in tools(searched(ScriptedModel(*model)))
    without = searched(ScriptedModel(*model), own_query=False)
    assert tools(without)[0] == "list_books"
    assert not any("own query" in line for line in without.transcript)


def test_peak_rank_does_not_favour_a_sub_goal_with_more_queries_and_rrf_does():
    replies = [
        plan("Weather.", "Mail."),
        asks("weather forecast city today"),
        asks("forecast weather today", serves="none"),
        asks("today forecast of weather", serves="none"),
        asks("send mail"),
        asks("", serves="send_mail"),
    ]
    by = {
        how: tools(searched(ScriptedModel(*replies), "zzz", aggregation=how))
        for how in ("peak_rank", "rrf", "multi_view")
    }
    assert set(by["peak_rank"][:2]) == set(by["multi_view"][:2]) == {"weather_today", "send_mail"}
    assert by["rrf"][:2] == ["weather_today", "weather_week"]


def test_with_a_tool_format_the_definition_is_searched_for_too():
    reply = json.dumps({"query": "mail", "description": "Sends mail", "parameters": ["address", "subject"]})
    model = ScriptedModel(plan("Mail."), reply, json.dumps({"serves": "send_mail", "query": ""}))
    found = searched(model, tool_format=True)
    line = next(line for line in found.transcript if line.startswith("query 1"))
    assert 'mail\n{"description": "Sends mail", "parameters": ["address", "subject"]}' in line
    assert "definition" in model.prompts[0][0].content


def test_what_the_base_asks_of_a_model_is_counted_too():
    class Base:
        def search(self, query, *, k):
            return Retrieval(hits=(Hit("list_books", 1.0),), usage=Usage(model_calls=2, input_tokens=7))

    found = searched(ScriptedModel(plan("B."), asks("books"), asks("", serves="list_books")), base=Base())
    assert found.usage.model_calls == 3 + 2 * 2


@pytest.mark.parametrize("options", [{"aggregation": "borda"}, {"queries": 0}, {"shown": -1}])
def test_an_option_that_cannot_be_is_refused_before_anything_is_asked(options):
    [(name, value)] = options.items()
    with pytest.raises(InvalidConfig, match=f"{name} is {value!r}; give"):
        Options(**options)


def test_nothing_is_asked_about_an_empty_index_or_an_empty_query():
    model = ScriptedModel()
    assert ToolQP(Overlap(), {}, PromptedPlanner(model)).search("x", k=5).hits == ()
    assert ToolQP(Overlap(), DOCUMENTS, PromptedPlanner(model)).search(" \n", k=5).hits == ()


def test_a_task_of_a_hundred_kilobytes_is_shortened_for_the_model():
    model = ScriptedModel(plan("B."), asks("books"), asks("", serves="list_books"))
    searched(model, "word " * 20_000)
    assert len(model.prompts[0][1].content) < 5000


def test_an_outage_is_no_answer():
    with pytest.raises(ModelUnavailable):
        searched(ScriptedModel(plan("B."), ModelUnavailable("down")))


def test_searches_at_once_do_not_mix():
    def model(messages):
        text = messages[1].content
        if len(messages) == 2:
            return plan("Weather." if "rain" in text else "Books.")
        if len(messages) == 4:
            return asks("weather forecast" if "rain" in text else "books by an author")
        return asks("", serves=messages[-1].content.split("1. ")[1].split(":")[0])

    retriever = ToolQP(Overlap(), DOCUMENTS, PromptedPlanner(ScriptedModel(*[model] * 60)))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda task: retriever.search(task, k=1), ["rain", "novels"] * 10))
    assert [tools(one)[0] for one in found] == ["weather_today", "list_books"] * 10
    assert {one.usage.model_calls for one in found} == {3}


def test_a_trained_planner_leads_in_the_conversation_that_it_learned():
    model = ScriptedModel(BOOKS, "<query>list books author</query>", "<stop_retrieval>")
    found = searched(model, "What did Borges write?", planner=TrainedPlanner)
    assert [(message.role, message.content) for message in model.prompts[2][1:]] == [
        ("user", "User query: What did Borges write?"),
        ("assistant", BOOKS),
        ("user", "Begin retrieval."),
        ("assistant", "<query>list books author</query>"),
        ("user", "System retrieved tools for previous query:\n1. list_books: List books by an author"),
    ]
    assert model.options[2]["schema"] is None
    assert found.transcript[-1] == "stopped: the planner has what it needs"


def test_a_trained_planner_that_never_stops_is_stopped():
    model = ScriptedModel("no plan at all", *[f"books {n}" for n in range(10)])
    found = searched(model, planner=TrainedPlanner)
    assert found.transcript[-1] == "stopped: 10 queries are the most"
    assert "the plan is no use: it is not written in the form that a planner learns" in found.transcript
