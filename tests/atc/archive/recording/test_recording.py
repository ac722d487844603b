"""Recordings: made from stored runs, written, read with clear errors, and run again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.agent import Agent
from atc.archive.recording import InvalidRecording, Recording, Replayer, make_recording
from atc.archive.recording.document import parse_recording, to_document
from atc.core.config import Config
from atc.store import Store
from protocols.errors import InvalidProtocol, ToolError
from protocols.protocol import ToolProtocol
from protocols.toolbox import Toolbox
from sandbox.trace import Pins, ToolCall, Trace
from tests.labs.tools import TEXT, tool, writing


@pytest.fixture(scope="module")
def replayer():
    with Replayer() as ready:
        yield ready


@pytest.fixture
def toolbox():
    serial = iter(range(1000))

    def get_note(arguments):
        if arguments["id"] == "p9":
            raise ToolError(404, "no such person")
        return {"text": f"note of {arguments['id']}", "serial": next(serial)}

    def log_in(arguments):
        return {"token": f"tok-{arguments['password'][::-1]}-9f8e7d6c5b", "expires": 60}

    def fetch(arguments):
        return {"mail": 3 if arguments["token"].startswith("tok-") else 0}

    return Toolbox(
        [
            tool("get_note", get_note, {"id": TEXT}),
            tool(
                "send_mail", lambda arguments: {"mail_id": next(serial)}, {"to": TEXT}, reads=False
            ),
            tool("log_in", log_in, {"user": TEXT, "password": TEXT}),
            tool(
                "fetch_mail",
                fetch,
                {"token": TEXT, "folder": {"type": "string", "default": "inbox"}},
            ),
        ]
    )


@pytest.fixture
def stored(toolbox, sandbox, tmp_path):
    """Solves a task with these programs, one a reply, and gives what the store has kept of it."""

    def run(*programs, task="Do it.", **settings):
        model = writing(*programs)
        config = Config(**{"samples": 1, "strategy": "chain", **settings})
        with Store(tmp_path / "runs.sqlite") as store:
            agent = Agent(toolbox, model=model, sandbox=sandbox, config=config, store=store)
            return store.load(agent.run(task).run_id or "last")

    return run


def through_a_file(recording):
    return parse_recording(json.dumps(to_document(recording)), where="run.json")


@pytest.mark.parametrize(
    ("program", "status", "failure"),
    [
        ("print(get_note(id='p9'))", "failed", "ToolError"),
        ("get_note(id='p1')\nsend_mail(to='a')\nprint(1)", "paused", "Paused"),
    ],
)
def test_a_run_without_answer_fails_alike_again(stored, replayer, program, status, failure):
    run = stored(*[program] * 2, max_repairs=1, max_calls=4)
    assert run.summary.status == status
    recording = through_a_file(make_recording(run))
    assert (recording.answer, recording.trace.failure.type) == (None, failure)
    assert replayer.rerun(recording).departure is None


def test_an_impossible_recording_is_explained(stored):
    with pytest.raises(InvalidRecording, match="has no program that ran to an end"):
        make_recording(stored("print(get_nothing())", max_repairs=0))


class TestSecrets:
    PASSED_ON = "t = log_in(user='ada', password='hunter-2000')['token']\nprint(fetch_mail(token=t)['mail'])"

    def test_replay_without_the_secrets_works(self, stored, replayer):
        run = stored(self.PASSED_ON, task="My password is hunter-2000. How many mails have I?")
        assert run.summary.status == "solved"
        text = json.dumps(to_document(make_recording(run)))
        assert "hunter-2000" not in text
        assert "0002-retnuh" not in text
        recording = parse_recording(text, where="run.json")
        assert len(recording.secrets) == 2
        assert all(name in text for name in recording.secrets)
        assert replayer.rerun(recording).departure is None

    def test_working_with_their_characters_says_so(self, stored, replayer):
        use = "print(fetch_mail(token=t[:8])['mail'])"
        run = stored(f"t = log_in(user='ada', password='hunter-2000')['token']\n{use}")
        assert run.summary.status == "solved"
        verdict = replayer.rerun(through_a_file(make_recording(run)))
        assert verdict.departure is not None
        assert verdict.departure.redacted
        assert verdict.departure.index == 1


@pytest.fixture
def document():
    note = ToolProtocol(
        name="get-note", input_schema={"type": "object", "properties": {"id": {"type": "string"}}}
    )
    call = ToolCall(
        index=0,
        tool="get_note",
        arguments={"id": "p1"},
        line=1,
        result={"text": "hi", "stars": 1.0},
    )
    trace = Trace(calls=(call,), stdout="hi\n", backend="zygote", pins=Pins(seed=3, clock=1.5))
    program, tools = "print(get_note(id='p1')['text'])", {"get_note": note}
    return to_document(
        Recording(run="r1", task="t", answer="hi", program=program, tools=tools, trace=trace)
    )


def changed(document, *path_and_value):
    """The document with the value at a path replaced; `...` removes it."""
    *path, last, value = path_and_value
    part = document
    for step in path:
        part = part[step]
    part[last] = value
    if value is ...:
        del part[last]
    return document


@pytest.mark.parametrize(
    ("path_and_value", "problem"),
    [
        (("format", ...), "it is no recording of a run; 'atc runs export RUN -o FILE' writes one."),
        (
            ("format", "atc recording 1"),
            "its format is 1, and this atc reads 2; export the run anew.",
        ),
        (("end", ...), "end: Field required"),
        (("end", "calls", 0, "tool", 5), "end.calls.0.tool: Input should be a valid string"),
        (("tool_calls", -5), "tool_calls: Input should be greater than or equal to 0"),
        (("tools", "__builtins__", {"name": "x"}), "tools: '__builtins__' is no name for a tool"),
    ],
)
def test_a_document_that_is_none_says_why(document, path_and_value, problem):
    with pytest.raises(InvalidRecording) as caught:
        parse_recording(json.dumps(changed(document, *path_and_value)), where="run.json")
    assert str(caught.value).startswith("run.json: ")
    assert problem in str(caught.value)


def test_broken_files_and_tools_are_named(document):
    with pytest.raises(InvalidRecording, match="it may have been cut off"):
        parse_recording('{"format": "atc recording 2", "run', where="run.json")
    with pytest.raises(InvalidRecording, match=r"run\.json: it is n"):
        parse_recording("[" * 200_000, where="run.json")
    with pytest.raises(InvalidProtocol, match=r"run\.json: tool 'get_note'"):
        parse_recording(
            json.dumps(changed(document, "tools", "get_note", "binding", {"ftp": {}})),
            where="run.json",
        )


def test_a_file_chooses_no_unbounded_sandbox(document, replayer):
    recording = parse_recording(
        json.dumps(changed(document, "end", "backend", "unconfined")), where="f"
    )
    assert replayer.rerun(recording).backend != "unconfined"


TEXTS = st.text(st.characters(codec=None))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXTS, inside, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30, deadline=None)
@given(
    results=st.lists(JSON, max_size=3),
    arguments=st.dictionaries(TEXTS, JSON, max_size=2),
    text=TEXTS,
)
def test_a_file_returns_what_was_put_in(results, arguments, text):
    calls = tuple(
        ToolCall(index=index, tool="get", arguments=arguments, line=1, result=result)
        for index, result in enumerate(results)
    )
    recording = Recording(
        run="r", task=text, answer=text, program=text, tools={},
        trace=Trace(calls=calls, stdout=text, value=arguments, backend="zygote", pins=Pins(clock=0.1)),
    )  # fmt: skip
    again = through_a_file(recording)
    assert again == recording
    assert json.dumps(to_document(again)) == json.dumps(to_document(recording))
