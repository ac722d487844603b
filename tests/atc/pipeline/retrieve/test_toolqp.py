"""ToolQP: a plan, queries with what was found, one ranking, and an end whatever the model writes."""

import json

import pytest

pytest.importorskip("numpy")
from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.toolqp import ToolQP
from tests.labs.rankers import Overlap

TOOLS = {
    "change_password": "Change the password of a user, needs an access token",
    "get_token": "Get the access token of a user by name and password",
    "list_books": "List books by an author",
    "send_mail": "Send a mail to an address",
    "weather_today": "Forecast of the weather in a city today",
    "weather_week": "Forecast of the weather in a city this week",
}
DOCUMENTS = {name: ToolDocument(name=name, description=about) for name, about in TOOLS.items()}


def plan(*goals):
    return json.dumps({"plan": "It takes tools.", "sub_goals": list(goals)})


def asks(query, serves=None):
    return json.dumps(({} if serves is None else {"serves": serves}) | {"query": query})


def searched(model, task="Change my password", **options):
    return ToolQP(Overlap(DOCUMENTS), DOCUMENTS, model, **options).search(task, k=5)


def tools(found):
    return [hit.tool for hit in found.hits]


def test_an_unnamed_prerequisite_is_planned_and_found():
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


def test_the_model_chooses_among_the_best_five():
    model = ScriptedModel(plan("Forecast."), asks("weather a"), asks("", serves="weather_today"))
    searched(model, shown=2)
    shown = model.prompts[2][-1].content
    assert (
        "1. weather_today: Forecast of the weather in a city today\n2. weather_week: Forecast"
        in shown
    )
    assert "3." not in shown
    assert model.options[2]["schema"]["properties"]["serves"]["enum"] == [
        "weather_today",
        "weather_week",
        "none",
    ]


def test_more_queries_favour_no_sub_goal():
    model = ScriptedModel(
        plan("Weather.", "Mail."),
        asks("weather forecast city today"),
        asks("forecast weather today", serves="none"),
        asks("today forecast of weather", serves="none"),
        asks("send mail"),
        asks("", serves="send_mail"),
    )
    assert set(tools(searched(model, "zzz"))[:2]) == {"weather_today", "send_mail"}


def test_a_hopeless_sub_goal_is_tried_thrice():
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
