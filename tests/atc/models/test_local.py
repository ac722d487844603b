"""The embedded model: how its process is led (with a stand-in for llama.cpp), and the real thing (marked tests)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atc.models import lark, llama
from atc.models.local import LocalModel
from benchmarks.decoding.rivals import TokenPlace, top_tokens
from protocols.errors import ModelUnavailable
from protocols.model import Message, Powers
from tests.labs.paths import LABS, ROOT
from tests.labs.patience import PATIENCE

FAKE = LABS / "fake_llama.py"
LARK = '%llguidance {}\nstart: "add(" /[0-9]{1,4}/ ")"\n'
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


def user(text: str) -> list[Message]:
    return [Message("user", text)]


@pytest.fixture
def gguf(tmp_path) -> Path:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF and more")
    return path


@pytest.fixture
def model(gguf, monkeypatch) -> Iterator[LocalModel]:
    pytest.importorskip("xllamacpp")
    monkeypatch.setattr(llama, "_CHILD", FAKE)
    model = LocalModel(gguf, threads=2, context_tokens=4096)
    yield model
    model.close()


def echoed(model: LocalModel, **options: Any) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(model(user("hello"), **options).text)
    return reply


def test_a_call_passes_everything_and_returns_counts(model):
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
    assert (reply.model, reply.input_tokens, reply.output_tokens, reply.truncated) == (
        "mine.gguf",
        7,
        3,
        True,
    )
    assert reply.seconds > 0
    assert model.timings == {"cache_n": 5}
    assert reply.cached_tokens == 5


def test_the_assistants_words_are_continued(model):
    begun = [*user("hello"), Message("assistant", "Hel\n")]
    reply = model(begun, grammar=LARK, temperature=0.5, seed=3, max_tokens=9)
    echo = json.loads(reply.text)
    assert echo["paths"] == ["/apply-template", "/completion"]
    prompt = json.loads(echo["request"].pop("prompt"))
    assert prompt == [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Hel\n"},
    ]
    assert echo["request"] == {"grammar": LARK, "temperature": 0.5, "seed": 3, "n_predict": 9}
    assert (reply.input_tokens, reply.output_tokens, reply.cached_tokens, reply.truncated) == (
        7,
        3,
        5,
        True,
    )
    assert not model([*user("reply lo"), Message("assistant", "Hel")]).truncated


def test_the_embedded_model_has_every_power(model, monkeypatch):
    pytest.importorskip("llguidance")
    assert model.powers == Powers(schema=True, lark=True, continues=True)
    monkeypatch.setattr(lark, "find_spec", lambda _: None)
    assert not model.powers.lark
    with pytest.raises(
        ModelUnavailable,
        match=r'needs \'llguidance\'.*pip install "automatic-tool-chain\[decode\]"',
    ):
        model(user("hello"), grammar=LARK)
    sent = echoed(model, schema=SCHEMA)["request"]["response_format"]["json_schema"]["schema"]
    assert sent == SCHEMA | {
        "x-guidance": {"lenient": True}
    }  # it cannot be told which keywords are enforced


@pytest.mark.parametrize("before", ["", "He said "])
def test_the_likeliest_tokens_come_with_the_reply(model, before):
    found, reply = top_tokens(
        model, [*user("reply né"), Message("assistant", before)], n=4, max_tokens=64
    )
    assert reply.text == "né" == "".join(place.text for place in found)
    assert found[0] == TokenPlace("n", (("n", -0.5),))
    assert [place.text for place in found[1:]] == ["", "é"]  # its two bytes are two tokens


def test_the_process_starts_once_and_after_death(model):
    first = echoed(model)["pid"]
    assert echoed(model)["pid"] == first
    with pytest.raises(
        ModelUnavailable,
        match=r"process was killed by SIGKILL: probably too little memory.*free some",
    ):
        model(user("die"))
    assert echoed(model)["pid"] != first


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


INTERRUPTED = """
import signal, sys, threading
from pathlib import Path
from atc.models import llama
from atc.models.local import LocalModel
from protocols.model import Message

llama._CHILD = Path(sys.argv[1])
model = LocalModel(sys.argv[2])
print(model([Message("user", "hello")]).text, flush=True)
try:
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    model([Message("user", "hang")])
except KeyboardInterrupt:
    print(model([Message("user", "hello")]).text, flush=True)
"""


def test_an_interrupt_leaves_the_model_usable(gguf):
    pytest.importorskip("xllamacpp")
    command = [sys.executable, "-c", INTERRUPTED, str(FAKE), str(gguf)]
    root = str(ROOT)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": root},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second = [json.loads(line)["pid"] for line in done.stdout.splitlines()]
    assert first != second
    assert is_gone(first)
    assert is_gone(second)


def test_the_process_ends_when_ours_is_killed(gguf):
    pytest.importorskip("xllamacpp")
    code = INTERRUPTED.partition("try:")[0] + "signal.pause()"
    root = str(ROOT)
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


@pytest.mark.parametrize("content", [b"<html>", b"GGUF\x03\0\0\0 and then nothing of use", None])
def test_a_broken_model_file_is_one_sentence(tmp_path, content):
    pytest.importorskip("xllamacpp")
    path = tmp_path / "bad.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        ModelUnavailable,
        match=r"cannot load '.*bad.gguf': there is no such file, or it is no GGUF model",
    ):
        LocalModel(path)(user("hello"))


def test_a_missing_system_library_is_named(monkeypatch, tmp_path):
    pytest.importorskip("xllamacpp")
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1: cannot open')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "some.gguf").write_bytes(b"")
    with pytest.raises(ModelUnavailable, match=r"cannot be loaded .*libgomp.so.1.*apt install"):
        LocalModel(tmp_path / "some.gguf")(user("hello"))


def test_a_missing_runtime_names_its_command(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.delenv("ATC_MODEL_PATH", raising=False)
    with pytest.raises(
        ModelUnavailable,
        match=r'pip install "automatic-tool-chain\[local\]", or set OPENAI_API_KEY',
    ):
        LocalModel(folder=tmp_path)(user("hello"))
    assert list(tmp_path.iterdir()) == []


def test_a_repeating_reply_is_cut(model):
    reply = model(user("circle x = 1;"), max_tokens=900)
    assert (reply.truncated, reply.text.replace("x = 1;", "")) == (True, "")
    assert 240 <= len(reply.text) < 400
    assert (reply.input_tokens, reply.cached_tokens) == (5, 5)
    assert 0 < reply.output_tokens < 100
    again = model(user("reply fine"), max_tokens=900)
    assert (again.text, again.truncated, again.output_tokens) == ("fine", False, 3)


@pytest.mark.parametrize("tokens", [9, 900])
def test_a_streamed_reply_equals_the_whole_one(model, tokens):
    replies = [
        model(user(said), max_tokens=tokens) for said in ("reply Zürich, 4 °C", "cut print(")
    ]
    assert [
        (r.text, r.truncated, r.input_tokens, r.output_tokens, r.cached_tokens) for r in replies
    ] == [
        ("Zürich, 4 °C", False, 7, 3, 5),
        ("print(", True, 7, 3, 5),
    ]
    assert ("stream" in echoed(model, max_tokens=tokens)["request"]) == (tokens == 900)
    assert "stream" not in echoed(model, max_tokens=900, grammar=LARK)["request"]
    with pytest.raises(ModelUnavailable, match="838 tokens too long"):
        model(user("overflow"), max_tokens=tokens)
    with pytest.raises(ModelUnavailable, match="was killed by SIGKILL"):
        model(user("die"), max_tokens=tokens)
