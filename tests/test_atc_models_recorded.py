"""Cassettes: what was recorded is replayed, exactly and alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atc.models.recorded import RecordedModel
from atc.models.scripted import ScriptedModel
from atc.redaction import Redactor
from protocols.ask import GrammarKind, Message, Powers
from protocols.errors import ModelUnavailable
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool

ASK = [Message("system", "Be brief."), Message("user", "\nName a city: é.\nNow.")]


@pytest.fixture
def cassette(tmp_path) -> Path:
    return tmp_path / "cassette.jsonl"


def test_a_recorded_exchange_is_replayed_without_the_model(cassette):
    script = ScriptedModel("Lima", "Rome")
    recording = RecordedModel(cassette, script)
    first = recording(ASK)
    second = recording(ASK, temperature=0.7, seed=1)
    assert recording(ASK) == first  # asked again while recording: not asked of the model again
    assert len(script.prompts) == 2
    replay = RecordedModel(cassette)
    assert (replay(ASK), replay(ASK, temperature=0.7, seed=1)) == (first, second)
    assert (recording.name, replay.name) == ("scripted", "recorded")


def test_recording_goes_on_at_the_end_of_a_cassette(cassette):
    RecordedModel(cassette, ScriptedModel("Lima"))(ASK)
    before = cassette.read_text()
    later = RecordedModel(cassette, ScriptedModel("Rome"))
    assert [later(ASK).text, later(ASK, seed=9).text] == ["Lima", "Rome"]
    assert cassette.read_text().startswith(before)
    assert len(cassette.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"temperature": 0.1}, {"max_tokens": 5}, {"grammar": "root ::= x"}, {"schema": {"type": "object"}}],
)
def test_another_option_is_another_question(cassette, change):
    RecordedModel(cassette, ScriptedModel("Lima"))(ASK)
    replay = RecordedModel(cassette)
    assert replay(ASK, temperature=0).text == "Lima"
    with pytest.raises(ModelUnavailable):
        replay(ASK, **change)


def test_a_missing_recording_names_the_cassette_and_the_question(cassette):
    cassette.touch()
    words = (
        r"the cassette '.*cassette\.jsonl' has no reply to 'Name a city: é\.' \(key [0-9a-f]{32}\); .*record it anew"
    )
    with pytest.raises(ModelUnavailable, match=words):
        RecordedModel(cassette)(ASK)


def test_a_missing_cassette_is_named(cassette):
    with pytest.raises(ModelUnavailable, match=r"there is no cassette '.*cassette\.jsonl'"):
        RecordedModel(cassette)


@pytest.mark.parametrize("line", ["{", "[]", '{"key": "x"}', '{"key": "x", "reply": {"words": 1}}'])
def test_a_damaged_line_is_named_by_its_number(cassette, line):
    RecordedModel(cassette, ScriptedModel("Lima"))(ASK)
    with cassette.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ModelUnavailable, match="line 2 of the cassette"):
        RecordedModel(cassette)


def test_an_outage_is_not_recorded(cassette):
    model = RecordedModel(cassette, ScriptedModel(ModelUnavailable("down"), "Lima"))
    with pytest.raises(ModelUnavailable, match="down"):
        model(ASK)
    assert model(ASK).text == "Lima"
    assert len(cassette.read_text().splitlines()) == 1


def test_an_exchange_shows_the_question_and_the_reply(cassette):
    RecordedModel(cassette, ScriptedModel("Lima"))(ASK)
    exchange = json.loads(cassette.read_text())
    assert exchange["request"]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert exchange["reply"]["text"] == "Lima"


LOG_IN = [Message("user", 'Log in with the password "hunter2!".')]
LOGIN = Tool(protocol=ToolProtocol(name="login"), call=lambda _: None)
TOKEN = 'tok"en-1'
PROGRAM = "```python\nrows = login(user='bo', password='hunter2!')\nprint(rows)\n```"


def test_no_secret_of_a_program_stands_in_a_cassette_and_the_replay_has_it_again(cassette):
    reply = RecordedModel(cassette, ScriptedModel(PROGRAM))(LOG_IN)
    assert reply.text == PROGRAM
    assert "hunter2" not in cassette.read_text()
    assert cassette.read_text().count("[redacted-str-8-p0.1]") == 2
    assert RecordedModel(cassette)(LOG_IN) == reply


def test_secrets_of_the_run_are_replaced_wherever_they_stand(cassette):
    redact = Redactor()
    redact.learn(LOGIN, {}, {"token": TOKEN}, at=(0, 0))
    ask = [Message("system", "Be brief."), Message("user", f"It answered {json.dumps({'token': TOKEN})}.")]
    RecordedModel(cassette, ScriptedModel(f"x = '{TOKEN}'"), redact=redact)(ask)
    assert "en-1" not in cassette.read_text()
    (recorded,) = map(json.loads, cassette.read_text().splitlines())
    assert recorded["request"]["messages"][1]["content"] == 'It answered {"token": "[redacted-str-8-0.0.1]"}.'
    ask_again = [*ask, Message("assistant", TOKEN)]
    RecordedModel(cassette, ScriptedModel(f"x = '{TOKEN}'"), redact=redact)(ask_again)
    assert eval(RecordedModel(cassette)(ask_again).text.removeprefix("x = ")) == TOKEN


def test_a_reply_to_a_prompt_with_placeholders_keeps_them(cassette):
    ask = [Message("user", "The token is [redacted-str-8-0.0.1].")]
    text = "x = '[redacted-str-8-0.0.1]'"
    RecordedModel(cassette, ScriptedModel(text))(ask)
    assert RecordedModel(cassette)(ask).text == text


def test_a_replay_that_needs_what_only_the_model_knew_says_so(cassette):
    ask = [Message("user", "Make up a password for bo.")]
    recording = RecordedModel(cassette, ScriptedModel("sign_up(password='xk7-horse-staple')"))
    assert "staple" in recording(ask).text
    assert "staple" in recording(ask).text  # while it is recorded, the model's own words
    assert "staple" not in cassette.read_text()
    with pytest.raises(
        ModelUnavailable, match=r"cassette\.jsonl' diverged: redacted\. .*\[redacted-str-16-p0\.1\].*anew"
    ):
        RecordedModel(cassette)(ask)


def test_powers_that_were_asked_for_are_recorded_with_the_exchanges(cassette):
    grammars: frozenset[GrammarKind] = frozenset({"lark"})
    script = ScriptedModel("Lima", "Rome", powers=Powers(grammars=grammars, continues=True, tops=True))
    recording = RecordedModel(cassette, script)
    recording(ASK)
    assert "powers" not in cassette.read_text()
    assert RecordedModel(cassette).powers == Powers()
    assert recording.powers == Powers(grammars=grammars, continues=True)  # likeliest tokens are not replayed
    recording(ASK, seed=1)
    replay = RecordedModel(cassette)
    assert replay.powers == recording.powers
    assert replay(ASK).text == "Lima"


def test_powers_of_an_unknown_kind_are_a_damaged_line(cassette):
    recording = RecordedModel(cassette, ScriptedModel("Lima"))
    assert recording.powers == Powers()
    recording(ASK)
    cassette.write_text(cassette.read_text().replace('"continues"', '"sings"'))
    with pytest.raises(ModelUnavailable, match="line 1 of the cassette"):
        RecordedModel(cassette)
