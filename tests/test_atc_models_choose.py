"""Which model a name, or none, stands for."""

from __future__ import annotations

import json
import socket

import pytest

from atc.models import choose
from atc.models.local import LocalModel
from atc.models.openai import OpenAIModel
from atc.models.recorded import RecordedModel
from atc.models.scripted import ScriptedModel
from protocols.ask import Message
from protocols.errors import ModelUnavailable


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ATC_MODEL_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_name_or_an_endpoint_it_is_the_embedded_model():
    model = choose()
    assert isinstance(model, LocalModel)
    assert (model.name, model.prompt_tokens) == ("local", 4000)


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_without_a_name_the_environments_endpoint_goes_before_it(monkeypatch, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:1/v1")
    model = choose()
    assert isinstance(model, OpenAIModel)
    assert model.prompt_tokens == 24_000
    assert isinstance(choose("local"), LocalModel)


@pytest.mark.parametrize(
    ("name", "model"), [("gpt-9", "gpt-9"), ("openai:gpt-9", "gpt-9"), ("openai", "gpt-5-mini"), ("qwen:7b", "qwen:7b")]
)
def test_other_names_are_models_of_the_endpoint(monkeypatch, name, model):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choose(name).name == model


def test_a_name_that_needs_an_endpoint_says_which_variable():
    with pytest.raises(ModelUnavailable, match=r"'gpt-9' needs an endpoint: set OPENAI_API_KEY.*--model local"):
        choose("gpt-9")


def test_the_small_model_has_a_name():
    model = choose("smollm2")
    assert isinstance(model, LocalModel)
    assert model.name == "smollm2"


def test_a_gguf_file_is_a_model_of_ones_own():
    model = choose("/models/mine.gguf")
    assert isinstance(model, LocalModel)
    assert model.name == "mine.gguf"


def test_files_of_replies_are_models_too(tmp_path):
    script, cassette = tmp_path / "s.json", tmp_path / "c.jsonl"
    script.write_text(json.dumps(["Lima"]))
    cassette.touch()
    assert isinstance(choose(f"scripted:{script}"), ScriptedModel)
    assert isinstance(choose(f"recorded:{cassette}"), RecordedModel)


def test_an_endpoint_has_the_time_and_the_retries_of_the_settings(monkeypatch):
    """The listener never answers: each request takes as long as the setting says, and is sent again as often."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        with pytest.raises(ModelUnavailable, match=r"0\.05|0 s"):
            choose("some", timeout_seconds=0.05, max_retries=0)([Message("user", "hi")])
