"""The embedded model: how its process is led (with a stand-in for llama.cpp), and the real thing (marked tests)."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atc.models import held, llama
from atc.models.fetch import cached
from atc.models.local import LocalModel, serve_openai
from atc.models.openai import OpenAIModel
from atc.models.tops import TokenPlace
from protocols.ask import Message, Powers
from protocols.errors import ModelUnavailable

FAKE = Path(__file__).with_name("fake_llama.py")
ANYTHING = {"type": "object"}
MAYBE = '%llguidance {}\nstart: "maybe"\n'
LARK = '%llguidance {}\nstart: "add(" /[0-9]{1,4}/ ")"\n'
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def user(text: str) -> list[Message]:
    return [Message("user", text)]


@pytest.fixture
def gguf(tmp_path) -> Path:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF and more")
    return path


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def model(gguf, monkeypatch, told) -> Iterator[LocalModel]:
    pytest.importorskip("xllamacpp")
    monkeypatch.setattr(llama, "_CHILD", FAKE)
    model = LocalModel(gguf, threads=2, context_tokens=4096, on_message=told.append)
    yield model
    model.close()


def echoed(model: LocalModel, **options: Any) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(model(user("hello"), **options).text)
    return reply


def test_a_call_hands_everything_over_and_gives_the_counts(model):
    reply = model(user("hello"), temperature=0.7, seed=2**32 + 4, max_tokens=9)
    echo = json.loads(reply.text)
    assert echo["request"] == {
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.7,
        "seed": 5,
        "max_tokens": 9,
    }
    assert (echo["settings"]["threads"], echo["settings"]["context_tokens"]) == (2, 4096)
    assert echo["settings"]["path"].endswith("/mine.gguf")
    assert (reply.model, reply.input_tokens, reply.output_tokens, reply.truncated) == ("mine.gguf", 7, 3, True)
    assert reply.seconds > 0
    assert model.timings == {"cache_n": 5}
    assert reply.cached_tokens == 5


def test_only_we_may_use_its_port(model):
    echo = echoed(model)
    assert len(echo["settings"]["api_key"]) == 32
    assert echo["authorization"] == f"Bearer {echo['settings']['api_key']}"


def test_a_schema_goes_before_a_grammar(model):
    assert echoed(model, schema=ANYTHING)["request"]["response_format"]["json_schema"]["schema"] == ANYTHING
    assert echoed(model, grammar=LARK)["request"]["grammar"] == LARK
    assert "grammar" not in echoed(model, schema=ANYTHING, grammar=LARK)["request"]


def test_words_of_the_assistant_are_gone_on_with_and_not_repeated(model):
    begun = [*user("hello"), Message("assistant", "Hel\n")]
    reply = model(begun, grammar=LARK, temperature=0.5, seed=3, max_tokens=9)
    echo = json.loads(reply.text)
    assert echo["paths"] == ["/apply-template", "/completion"]
    prompt = json.loads(echo["request"].pop("prompt"))
    assert prompt == [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hel\n"}]
    assert echo["request"] == {"grammar": LARK, "temperature": 0.5, "seed": 3, "n_predict": 9}
    assert (reply.input_tokens, reply.output_tokens, reply.cached_tokens, reply.truncated) == (7, 3, 5, True)
    assert not model([*user("reply lo"), Message("assistant", "Hel")]).truncated


def test_what_continues_is_sent_its_schema_as_the_runtime_has_it_there(model):
    echo = json.loads(model([*user("hello"), Message("assistant", "x")], schema=ANYTHING).text)
    assert echo["request"]["json_schema"] == ANYTHING
    assert "response_format" not in echo["request"]


def test_empty_words_of_the_assistant_are_no_turn(model):
    echo = json.loads(model([*user("hello"), Message("assistant", "")]).text)
    assert echo["request"]["messages"] == [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("before", ["", "x = 1\n"])
def test_a_refusal_is_told_whether_it_continues_or_not(model, before):
    with pytest.raises(ModelUnavailable, match="838 tokens too long"):
        model([*user("overflow"), Message("assistant", before)])


def test_it_can_do_all_there_is_and_lark_where_llguidance_is(model, monkeypatch):
    pytest.importorskip("llguidance")
    assert model.powers == Powers(schema=True, grammars=frozenset({"lark"}), continues=True, tops=True)
    monkeypatch.setattr(held, "find_spec", lambda _: None)
    assert not model.powers.grammars
    with pytest.raises(ModelUnavailable, match=r'needs \'llguidance\'.*pip install "automatic-tool-chain\[decode\]"'):
        model(user("hello"), grammar=LARK)
    sent = echoed(model, schema=SCHEMA)["request"]["response_format"]["json_schema"]["schema"]
    assert sent == SCHEMA | {"x-guidance": {"lenient": True}}  # it cannot be told which keywords are enforced


def test_a_grammar_that_is_wrong_is_not_sent(model):
    pytest.importorskip("llguidance")
    with pytest.raises(ModelUnavailable, match=r"no reply can be held to this grammar: .*unknown name.*; correct it"):
        model(user("hello"), grammar="%llguidance {}\nstart: foo\n")
    assert echoed(model)["paths"] == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("reply", "is_held"),
    [
        ("reply add(1)", True),
        ("reply add(1", False),  # the runtime stopped in the middle
        ("cut add(1", True),
        ("cut add(x", False),
        ("reply I would add 1", False),
    ],
)
def test_a_reply_that_was_not_held_to_its_grammar_is_told_and_the_power_is_gone(model, told, reply, is_held):
    pytest.importorskip("llguidance")
    for _ in range(2):
        assert model(user(reply), grammar=LARK).text == reply.partition(" ")[2]
    assert model.powers.grammars == ({"lark"} if is_held else set())
    assert model.powers.schema
    sentence = "llama.cpp did not hold a reply to its grammar; bring xllamacpp and llguidance up to date"
    assert told == ([] if is_held else [sentence])


def test_a_runtime_that_held_replies_before_may_fail_twice(model, told):
    pytest.importorskip("llguidance")
    model(user("reply add(1)"), grammar=LARK)
    for misses in range(1, 4):
        model(user("reply I would add 1"), grammar=LARK)
        assert ("lark" in model.powers.grammars) is (misses < 3)
    assert told == ["llama.cpp did not hold a reply to its grammar; more may follow in it than llama.cpp keeps"]


def test_a_schema_that_is_known_in_part_is_enforced_in_that_part(model, told):
    pytest.importorskip("llguidance")
    unique = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    sent = echoed(model, schema=ANYTHING | {"not": {"required": ["x"]}})["request"]["response_format"]["json_schema"]
    assert sent["schema"] == ANYTHING | {"not": {"required": ["x"]}, "x-guidance": {"lenient": True}}
    assert model(user("reply [1]"), schema=unique).text == "[1]"
    assert model.powers.schema
    for _ in range(3):
        model(user('reply ["x"]'), schema=unique)
    assert not model.powers.schema
    assert told == ["llama.cpp did not hold a reply to its schema; more may follow in it than llama.cpp keeps"]


def test_a_schema_that_nothing_can_be_held_to_is_asked_for_in_words(model, told):
    pytest.importorskip("llguidance")
    contradiction = {"type": "integer", "minimum": 3, "maximum": 2}
    echo = echoed(model, schema=contradiction)["request"]
    assert "response_format" not in echo
    assert json.dumps(contradiction) in echo["messages"][-1]["content"]
    assert model.powers.schema
    assert told == []


@pytest.mark.parametrize("before", ["", "He said "])
def test_the_likeliest_tokens_come_with_the_reply(model, before):
    found, reply = model.top_tokens([*user("reply né"), Message("assistant", before)], n=4)
    assert reply.text == "né" == "".join(place.text for place in found)
    assert found[0] == TokenPlace("n", -0.5, (("n", -0.5),))
    assert [place.text for place in found[1:]] == ["", "é"]  # its two bytes are two tokens


def test_statements_of_a_program_leave_the_disk_alone(model, monkeypatch, tmp_path):
    model.load()
    monkeypatch.setattr(model._states, "folder", tmp_path)
    task = user("reply long " + "stubs " * 2000)
    model(task)
    assert len(list(tmp_path.glob("*.json"))) == 1  # what was long to read is kept
    with monkeypatch.context() as patch:
        patch.setattr(Path, "glob", lambda *_: pytest.fail("looked for a state"))
        for statements in range(1, 4):
            model([*task, Message("assistant", "x = 1\n" * statements)])
    asked = echoed(model)["paths"]
    assert [path for path in asked if path.startswith("/slots")] == ["/slots/0?action=save"]
    assert len(asked) == 2 + 3 * 2 + 1


def test_the_process_is_started_once_and_again_after_it_died(model):
    first = echoed(model)["pid"]
    assert echoed(model)["pid"] == first
    with pytest.raises(ModelUnavailable, match=r"process was killed by SIGKILL: probably too little memory.*free some"):
        model(user("die"))
    assert echoed(model)["pid"] != first


def test_a_prompt_over_the_context_says_by_how_much(model):
    with pytest.raises(ModelUnavailable, match=r"838 tokens too long .* has 9,030, the context holds 8,192; shorten"):
        model(user("overflow"))


def test_a_refused_grammar_is_one_sentence(model):
    with pytest.raises(ModelUnavailable, match=r"refuses the request: failed to parse grammar; check the schema or gr"):
        model(user("grammar"))


@pytest.mark.parametrize(
    ("context_tokens", "sentence"),
    [
        (666, r"process ended with exit status 3"),
        (667, r"cannot load '.*mine\.gguf': the file is damaged .*RuntimeError"),
    ],
)
def test_a_model_that_does_not_load_is_one_sentence(model, gguf, context_tokens, sentence):
    with pytest.raises(ModelUnavailable, match=sentence):
        LocalModel(gguf, context_tokens=context_tokens).load()


def test_calls_from_threads_wait_for_each_other_and_share_one_process(model):
    pids: list[int] = []
    threads = [threading.Thread(target=lambda: pids.append(echoed(model)["pid"])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 4
    assert len(set(pids)) == 1


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_process_ends_with_its_model(model, gguf):
    other = LocalModel(gguf)
    pid = echoed(other)["pid"]
    del other
    gc.collect()
    assert is_gone(pid)


INTERRUPTED = """
import signal, sys, threading
from pathlib import Path
from atc.models import held, llama
from atc.models.local import LocalModel
from protocols.ask import Message

llama._CHILD = Path(sys.argv[1])
model = LocalModel(sys.argv[2])
print(model([Message("user", "hello")]).text, flush=True)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    model([Message("user", "hang")])
except KeyboardInterrupt:
    print(model([Message("user", "hello")]).text, flush=True)
"""


def test_an_interrupt_leaves_at_once_ends_the_generation_and_the_model_can_be_asked_again(gguf):
    pytest.importorskip("xllamacpp")
    command = [sys.executable, "-c", INTERRUPTED, str(FAKE), str(gguf)]
    root = str(Path(__file__).parent.parent)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=30, env={**os.environ, "PYTHONPATH": root}, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second = [json.loads(line)["pid"] for line in done.stdout.splitlines()]
    assert first != second
    assert is_gone(first)
    assert is_gone(second)


def test_the_process_ends_when_ours_is_killed(gguf):
    pytest.importorskip("xllamacpp")
    code = INTERRUPTED.partition("try:")[0] + "signal.pause()"
    root = str(Path(__file__).parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(FAKE), str(gguf)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    ) as ours:
        assert ours.stdout is not None
        pid = json.loads(ours.stdout.readline())["pid"]
        with os.fdopen(os.pidfd_open(pid)) as child:
            ours.send_signal(signal.SIGKILL)
            import select

            assert select.select([child], [], [], 10)[0], "the child outlived us"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<html>", r"is not a GGUF model: it begins with b'<htm'"),
        (b"", r"is not a GGUF model"),
        (b"GGUF\x03\0\0\0 and then nothing of use", r"cannot load '.*': the file is damaged"),
        (None, r"cannot be read \(No such file or directory\); name another with ATC_MODEL_PATH"),
    ],
)
def test_a_file_that_is_no_model_is_one_sentence(tmp_path, content, sentence):
    pytest.importorskip("xllamacpp")
    path = tmp_path / "bad.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=sentence):
        LocalModel(path).load()


def test_without_the_runtime_nothing_is_fetched_and_the_command_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.delenv("ATC_MODEL_PATH", raising=False)
    with pytest.raises(ModelUnavailable, match=r'pip install "automatic-tool-chain\[local\]", or set OPENAI_API_KEY'):
        LocalModel(folder=tmp_path).load()
    assert list(tmp_path.iterdir()) == []


def test_it_is_called_local_or_by_its_file(monkeypatch):
    monkeypatch.delenv("ATC_MODEL_PATH", raising=False)
    assert LocalModel().name == "local"
    monkeypatch.setenv("ATC_MODEL_PATH", "/models/other.gguf")
    assert LocalModel().name == "other.gguf"


@pytest.fixture(scope="module")
def real() -> Path:
    path = Path(os.environ["ATC_MODEL_PATH"]) if "ATC_MODEL_PATH" in os.environ else cached()
    if path is None:
        pytest.skip("no model: fetch it with 'atc models pull', or set ATC_MODEL_PATH")
    return path


@pytest.mark.local_model
def test_the_real_model_answers_under_a_schema_and_reads_a_common_prefix_once(real):
    pytest.importorskip("xllamacpp")
    model = LocalModel(real)
    try:
        rules = Message("system", "You extract numbers from text. " * 20)
        first = model([rules, *user("There are 7 geese.")], schema=SCHEMA, max_tokens=30)
        read = model.timings["prompt_n"]
        second = model([rules, *user("There are 12 geese.")], schema=SCHEMA, max_tokens=30)
        assert (json.loads(first.text), json.loads(second.text)) == ({"a": 7}, {"a": 12})
        assert model.timings["cache_n"] > 100 > 4 * model.timings["prompt_n"]
        assert first.input_tokens == read > 100
        assert model(user("Is water wet?"), grammar=MAYBE, max_tokens=10).text == "maybe"
    finally:
        model.close()


@pytest.mark.local_model
def test_the_real_model_is_served_to_openai_clients(real):
    pytest.importorskip("xllamacpp")
    with serve_openai(real, api_key="k") as url:
        model = OpenAIModel(base_url=url, api_key="k")
        try:
            reply = model(user("There are 7 geese. How many geese are there?"), schema=SCHEMA, max_tokens=30)
            assert json.loads(reply.text) == {"a": 7}
            assert reply.model == model.name == real.name
            assert min(reply.input_tokens, reply.output_tokens) > 1
            assert model(user("Is water wet?"), grammar=MAYBE, max_tokens=10).text == "maybe"
        finally:
            model.close()
        stranger = OpenAIModel("x", base_url=url, api_key="wrong")
        with pytest.raises(ModelUnavailable, match="refuses the key"):
            stranger(user("Hello"))
        stranger.close()


def test_a_reply_that_runs_in_circles_is_cut_and_the_model_can_be_asked_again(model):
    reply = model(user("circle x = 1;"), max_tokens=900)
    assert (reply.truncated, reply.text.replace("x = 1;", "")) == (True, "")
    assert 240 <= len(reply.text) < 400
    assert (reply.input_tokens, reply.cached_tokens) == (5, 5)
    assert 0 < reply.output_tokens < 100
    again = model(user("reply fine"), max_tokens=900)
    assert (again.text, again.truncated, again.output_tokens) == ("fine", False, 3)


@pytest.mark.parametrize("tokens", [9, 900])
def test_a_long_reply_comes_token_by_token_and_says_the_same(model, tokens):
    replies = [model(user(said), max_tokens=tokens) for said in ("reply Zürich, 4 °C", "cut print(")]
    assert [(r.text, r.truncated, r.input_tokens, r.output_tokens, r.cached_tokens) for r in replies] == [
        ("Zürich, 4 °C", False, 7, 3, 5),
        ("print(", True, 7, 3, 5),
    ]
    assert ("stream" in echoed(model, max_tokens=tokens)["request"]) == (tokens == 900)
    assert "stream" not in echoed(model, max_tokens=900, grammar=LARK)["request"]
    with pytest.raises(ModelUnavailable, match="838 tokens too long"):
        model(user("overflow"), max_tokens=tokens)
    with pytest.raises(ModelUnavailable, match="was killed by SIGKILL"):
        model(user("die"), max_tokens=tokens)
