"""`benchmarks.services`: prepared programs run as those of any model, and are graded by the truth."""

import ast
import sys

import pytest

from benchmarks.services.__main__ import SERVICES, summarize
from benchmarks.services.grading import grade_report, same_answer
from benchmarks.services.play import play_program
from benchmarks.services.service import RunningService
from benchmarks.services.service_tasks import (
    ServiceTask,
    load_service_tasks,
    missing_builtins,
)
from tests.labs.loopback import Reply, serving

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Notes", "version": "1"},
    "paths": {
        "/notes": {
            "get": {
                "operationId": "list_notes",
                "responses": {
                    "200": {
                        "description": "The titles.",
                        "content": {
                            "application/json": {
                                "schema": {"type": "array", "items": {"type": "string"}}
                            }
                        },
                    }
                },
            },
            "post": {
                "operationId": "add_note",
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"title": {"type": "string"}},
                            }
                        }
                    }
                },
                "responses": {"201": {"description": "Created."}},
            },
        }
    },
}
NOTES = ServiceTask(
    id="count",
    question="How many notes are there?",
    programs={
        "plain": "print(len(list_notes()))",
        "wrong": "print(len(list_notes()[1:]))",
    },
)
ADD = ServiceTask(
    id="add",
    question='Add the note "3.10" and print its title.',
    programs={"plain": 'add_note(title="3.10")\nprint("3.10")'},
)


@pytest.fixture
def service():
    def answer(request):
        if request.path == "/openapi.json":
            return Reply(body=DOCUMENT)
        return Reply(status=201 if request.method == "POST" else 200, body=["a", "b", "c"])

    with serving(answer) as server:
        yield RunningService(
            tools=f"{server.url}/openapi.json",
            truths={"count": 3, "add": "3.10"},
            written={"add": lambda: False},
        )


def play(service, task, style, tmp_path):
    return play_program("notes", service, task, style, python=sys.executable, cache=tmp_path)


def test_an_answer_without_its_write_is_wrong(service, tmp_path):
    assert play(service, ADD, "plain", tmp_path).grade == "silent"


@pytest.mark.parametrize(
    ("answer", "truth", "same"),
    [
        (130, 130, True),
        ("130", 130, True),
        ("['a', 'b']", ["a", "b"], True),
        ("3.10", "3.10", True),
        (3.1, "3.10", False),
        ("007", "7", False),
        (113028.0, 113028, True),
        (True, 1, False),
        (["a"], ["a", "b"], False),
    ],
)
def test_an_answer_is_compared_with_the_truth(answer, truth, same):
    assert same_answer(answer, truth) is same


@pytest.mark.parametrize(
    ("report", "grade"),
    [
        ({"status": "solved", "answer": 130}, "right"),
        ({"status": "unsure", "answer": 130}, "unsure"),
        ({"status": "unsure", "answer": 100}, "marked"),
        ({"status": "solved", "answer": 100, "attempts": [{"doubts": ["a page"]}]}, "marked"),
        ({"status": "solved", "answer": 100, "attempts": [{"doubts": []}]}, "silent"),
        ({"status": "paused", "answer": None}, "no answer"),
        ({"error": "no such file"}, "no answer"),
    ],
)
def test_a_report_is_graded(report, grade):
    assert grade_report(report, 130) == grade


def test_functions_that_the_prompt_lacks_are_found():
    program = "print(sum(len(page) for page in pages(list_notes)))"
    assert missing_builtins(program, "def list_notes()") == ["pages"]
    assert not missing_builtins(program, "`pages(tool)` yields each page")


def test_a_silent_wrong_answer_fails_the_suite(service, tmp_path):
    right, wrong = (play(service, NOTES, style, tmp_path) for style in ("plain", "wrong"))
    assert summarize([right])["passed"]
    report = summarize([right, wrong])
    assert not report["passed"]
    assert report["not_right"] == ["notes count (wrong): silent, answered '2', truth '3'"]


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_has_six_tasks_of_valid_programs(name):
    tasks = load_service_tasks(name)
    assert len({task.id for task in tasks}) == len(tasks) >= 6
    for task in tasks:
        for program in task.programs.values():
            ast.parse(program)
