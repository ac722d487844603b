"""What real runtimes hold a small model to: in a child process of ours, and behind llama.cpp's HTTP server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("llguidance")

from atc.core.parallel import wait_until
from atc.models.decode.formats import TOOLDEC
from atc.models.decode.grammar import classify_text
from atc.models.decode.prompt import call_prompt
from atc.models.decode.write_call import Sampling, write_call
from atc.models.llama import LlamaProcess
from atc.models.local import LocalModel
from atc.models.model_files import SMOLLM2, find_cached
from atc.models.openai import OpenAIModel
from protocols.errors import OutOfTime
from protocols.model import Message, forget
from tests.labs.constrained_endpoint import TOOLS

pytestmark = pytest.mark.local_model

Model = LocalModel | OpenAIModel
SUM = [Message("user", "Write python: add 3 and 4 with add(a, b).")]
STATEMENT = (
    '%llguidance {{}}\nstart: "x{0} = " ("add" | "sub") "(" /[0-9]{{1,4}}/ ", " /x[0-9]/ ")\\n"\n'
)


@pytest.fixture(scope="module")
def weights() -> Path:
    pytest.importorskip("xllamacpp")
    path = find_cached(SMOLLM2)
    if path is None:
        pytest.skip("no small model: fetch it with 'atc models pull smollm2'")
    return path


@pytest.fixture(scope="module", params=["in a child process", "behind an endpoint"])
def model(request, weights, tmp_path_factory) -> Iterator[Model]:
    if request.param == "in a child process":
        local = LocalModel(weights, threads=1, folder=tmp_path_factory.mktemp("models"))
        yield local
        local.close()
    else:
        process = LlamaProcess(
            str(weights), name="small", threads=1, context_tokens=8192, api_key="k"
        )
        remote = OpenAIModel(base_url=f"{process.address}/v1", api_key="k")
        yield remote
        remote.close()
        process.stop()


def test_a_call_is_valid_at_any_temperature(model):
    sampling = Sampling(temperature=2.0, seed=5, max_tokens=20)
    tools = TOOLS.only(["power", "add", "maximum"])
    messages = call_prompt(
        "A cube has sides of 1.31 meters. What is its volume?", tools, TOOLDEC, "names"
    )
    written = write_call(model, messages, tools, form=TOOLDEC, sampling=sampling, characters=20)
    assert (written.call.error, written.enforced, written.how) == (None, True, "grammar")


def test_replies_keep_to_grammar_and_schema(model):
    call = model(SUM, grammar=STATEMENT.format(1), temperature=2.0, seed=1, max_tokens=40)
    assert classify_text(STATEMENT.format(1), call.text) == "complete"
    assert not call.truncated
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert json.loads(model(SUM, schema=schema, temperature=2.0, max_tokens=60).text).keys() == {
        "a"
    }


@pytest.mark.parametrize("said", ["Hello\n\n", "é…\u00a0", "x = 1\n    "])
def test_words_are_gone_on_with_byte_for_byte(model, said):
    """Whoever continues word by word writes what was written at once."""
    at_once = model([*SUM, Message("assistant", said)], max_tokens=6)
    assert not at_once.text.startswith(said)
    first = model([*SUM, Message("assistant", said)], max_tokens=3).text
    rest = model([*SUM, Message("assistant", said + first)], max_tokens=3).text
    assert (
        first + rest == at_once.text or "\ufffd" in first
    )  # a character that is cut cannot be gone on with


def test_what_was_forgotten_is_read_again(model):
    if isinstance(model, OpenAIModel):
        pytest.skip("what an endpoint keeps is its own affair")
    begun = [*SUM, Message("assistant", "```python\n")]
    model(SUM, max_tokens=2)
    assert model(SUM, max_tokens=2).cached_tokens > 0
    for prompt in (SUM, begun):
        forget(model)
        assert model(prompt, max_tokens=2).cached_tokens == 0
    assert model(begun, max_tokens=2).cached_tokens > 0


def test_a_late_reply_leaves_the_model_usable(
    model: Model,
) -> None:
    assert model(SUM, max_tokens=4).output_tokens
    story = [Message("user", "Write a long story about a lighthouse, a storm and a lost boat.")]
    with wait_until(time.monotonic() + 0.5), pytest.raises(OutOfTime):
        model(story, grammar="%llguidance {}\nstart: /[a-z]{2000,3000}/\n", max_tokens=3000)
    assert model(SUM, max_tokens=4).output_tokens
