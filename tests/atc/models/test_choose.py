"""Which model a name, or none, stands for."""

from __future__ import annotations

import pytest

from atc.models import choose, list_served_models, recommend_model
from atc.models.local import LocalModel
from atc.models.openai import OpenAIModel
from protocols.errors import ModelUnavailable
from tests.labs.loopback import Reply, closed_port, serving

pytestmark = pytest.mark.usefixtures("own_folders")  # of an environment that names no endpoint


def test_the_embedded_model_is_the_default():
    model = choose()
    assert isinstance(model, LocalModel)
    assert (model.name, model.prompt_tokens) == ("local", 2500)


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_the_environments_endpoint_precedes_the_embedded_model(monkeypatch, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:1/v1")
    model = choose()
    assert isinstance(model, OpenAIModel)
    assert model.prompt_tokens == 24_000
    assert isinstance(choose("local"), LocalModel)


@pytest.mark.parametrize(
    ("name", "model"), [("openai:gpt-9", "gpt-9"), ("openai", "gpt-5-mini"), ("qwen:7b", "qwen:7b")]
)
def test_other_names_are_models_of_the_endpoint(monkeypatch, name, model):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choose(name).name == model


def test_a_name_without_endpoint_names_the_variable():
    with pytest.raises(
        ModelUnavailable, match=r"'gpt-9' needs an endpoint: set OPENAI_API_KEY.*--model local"
    ):
        choose("gpt-9")


def test_a_gguf_file_is_a_model():
    model = choose("/models/mine.gguf")
    assert isinstance(model, LocalModel)
    assert model.name == "mine.gguf"


@pytest.mark.parametrize(
    ("host", "url"), [("", "http://127.0.0.1:11434"), ("https://o.example/", "https://o.example")]
)
def test_ollama_is_where_its_own_variable_says(monkeypatch, host, url):
    monkeypatch.setenv("OLLAMA_HOST", host)
    model = choose("ollama:qwen3:8b")
    assert isinstance(model, OpenAIModel)
    assert (model.name, model.url) == ("qwen3:8b", f"{url}/v1")


def test_a_llama_server_is_on_this_machine_alone():
    assert getattr(choose("llamacpp"), "url", "") == "http://127.0.0.1:8080/v1"
    assert getattr(choose("llamacpp:9090"), "url", "") == "http://127.0.0.1:9090/v1"
    with pytest.raises(ModelUnavailable, match="names no port of this machine"):
        choose("llamacpp:evil.example:80")


def test_what_fits_the_free_memory_is_recommended():
    assert recommend_model(None) is recommend_model(2e9) is None
    assert recommend_model(7e9) == "qwen2.5-coder:7b"
    assert recommend_model(64e9) == "qwen3-coder:30b"


def test_only_model_servers_on_this_machine_are_found(monkeypatch):
    monkeypatch.setattr("atc.models._WAIT_SECONDS", 10.0)
    bodies = {
        "/api/tags": {"models": [{"name": "qwen3:8b"}]},
        "/v1/models": {"data": [{"owned_by": "llamacpp"}]},
    }
    with serving(lambda seen: Reply(body=bodies[seen.path])) as server:
        assert [name for name, _ in list_served_models(server.url, server.url)] == [
            "ollama:qwen3:8b",
            "llamacpp",
        ]
    with serving(lambda _: Reply(body=[1])) as server:
        assert list(list_served_models(server.url, f"http://127.0.0.1:{closed_port()}")) == []
