"""Language models: implementations of `protocols.model.Ask`, and the choice among them.

- `openai.py`: any OpenAI-compatible endpoint; `dialects.py`: how the kinds of endpoint differ
- `anthropic.py`: Anthropic's own API
- `local.py`: the embedded models, which run on this machine
- `lark.py`: tests whether a grammar or schema can be enforced
- `wire.py`: the format of requests and replies; `stream.py`: that of streamed replies
- `abilities.py`: what an endpoint accepts, learned from its refusals
- `scripted.py`: prepared replies for tests
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from atc.models.anthropic import AnthropicModel
from atc.models.local import LocalModel
from atc.models.model_files import LOCAL_MODELS, cache_folder, locate_model
from atc.models.openai import OpenAIModel, is_configured
from atc.models.scripted import ScriptedModel
from protocols.errors import ModelUnavailable
from protocols.http.request import HttpRequest
from protocols.http.transport import Transport
from protocols.model import Ask
from protocols.response import one_line, parse_json
from protocols.schema import as_mapping, items_of_type
from protocols.urls import split_url

_OLLAMA_TOKENS = 2500
"""Maximum number of tokens for descriptions of tools in a prompt. Ollama cuts a prompt that is
longer than its context, which has 4,096 tokens by default.
"""

_MEMORY = "endpoints.json"
"""Name of the file in which the abilities of endpoints are remembered."""
_WAIT_SECONDS = 0.5
_LIST_BYTES = 1_000_000
_NAME = 200  # maximum characters of a displayed name
SUGGESTIONS = {
    "qwen2.5-coder:3b": 3.4e9,
    "qwen2.5-coder:7b": 6.2e9,
    "qwen2.5-coder:14b": 10.5e9,
    "qwen3-coder:30b": 20.5e9,
}
"""Models that write better programs than the embedded one, the smallest first. Maps the name of a
model in Ollama to the bytes of memory that it needs for 4-bit weights, the context and the runtime
(1.5 GB). Any GGUF file can be used as well, by its path.
"""


def choose(
    name: str | None = None,
    *,
    cache_dir: Path | None = None,
    timeout_seconds: float = 120.0,
    max_retries: int = 4,
    on_progress: Callable[[int, int], None] | None = None,
    on_message: Callable[[str], None] | None = None,
    on_reading: Callable[[int, int, float], None] | None = None,
) -> Ask:
    """Return the model with this name. It loads and requests nothing before its first call.

    - `local`: the embedded model; `smollm2`: a small one (see `LOCAL_MODELS`)
    - `FILE.gguf`: a model file of the user
    - `scripted:FILE`: prepared replies from a file
    - `ollama:NAME`: a model of an Ollama server (OLLAMA_HOST, else on this machine)
    - `llamacpp` or `llamacpp:PORT`: the model that a llama.cpp server on this machine has loaded
    - `anthropic:NAME`: a model of Anthropic's own API (ANTHROPIC_API_KEY)
    - `openai`: the default model of the configured endpoint
    - any other name, also as `openai:NAME`: a model of the configured endpoint

    If `name` is None, it is `openai` if OPENAI_API_KEY or OPENAI_BASE_URL is set, else `local`. The
    embedded model is downloaded into `cache_dir` at its first call; `fetch` explains `on_progress`
    and `on_message`. While it reads a prompt, it calls `on_reading` with the number of tokens that
    it has read, the number of all tokens, and the seconds so far. An endpoint must reply within
    `timeout_seconds`. A request that failed temporarily is repeated up to `max_retries` times.

    Raises:
        ModelUnavailable: the name needs an endpoint and none is configured, or it names a file that
            cannot be read.
    """
    if name is None:
        name = "openai" if is_configured() else "local"
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        return ScriptedModel.load(Path(rest))
    if name in LOCAL_MODELS or name.endswith(".gguf"):
        folder = cache_dir / "models" if cache_dir is not None else None
        return LocalModel(
            name,
            folder=folder,
            on_progress=on_progress,
            on_message=on_message,
            on_reading=on_reading,
        )
    if kind == "anthropic" and rest:
        return AnthropicModel(rest, timeout_seconds=timeout_seconds, max_retries=max_retries)
    endpoint = partial(
        OpenAIModel,
        timeout_seconds=timeout_seconds,
        max_retries=max_retries,
        memory=(cache_dir / "models" if cache_dir is not None else cache_folder()) / _MEMORY,
    )
    if kind == "ollama" and rest:
        url = f"{ollama_url()}/v1"
        return endpoint(rest, api_key="none", base_url=url, prompt_tokens=_OLLAMA_TOKENS)
    if kind == "llamacpp":
        return endpoint(api_key="none", base_url=f"{llamacpp_url(_read_port(name, rest))}/v1")
    return endpoint((rest if kind == "openai" else name) or None)


def _read_port(name: str, port: str) -> str:
    """Return the port in a model name such as `llamacpp:8080`; empty for the default port.

    Raises:
        ModelUnavailable: `port`, the part after the colon, is not a port number.
    """
    if port and not (port.isdecimal() and int(port) < 65_536):
        raise ModelUnavailable(
            f"{name!r} names no port of this machine: write llamacpp:8080, or set OPENAI_BASE_URL"
            " for a server elsewhere."
        )
    return port


def list_models(chosen: str, *, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the name, state and location of each model that can be used on this machine.

    The model named `chosen` in the settings is always included. `folder` is the folder of
    downloaded models. The name `(endpoint)` means the default model of the configured endpoint.
    """
    for name in LOCAL_MODELS:
        yield name, *locate_model(name, folder=folder)
    if is_configured():
        yield "(endpoint)", "set", OpenAIModel().url
    offered = dict(list_served_models(ollama_url(), llamacpp_url()))
    for name, where in offered.items():
        yield name, "served", where
    if (best := recommend_model(free := free_memory())) is not None:
        fits = (
            f"recommended: needs {SUGGESTIONS[best] / 1e9:.0f} GB of {(free or 0) / 1e9:.0f} GB"
            " free memory"
        )
        yield (
            f"ollama:{best}",
            "fits",
            f"{fits}; 'ollama pull {best}', or --model FILE.gguf for any GGUF",
        )
    if chosen not in (*LOCAL_MODELS, "(endpoint)", *offered):
        yield chosen, "configured", "asked by 'atc models test'"


def ollama_url() -> str:
    """Return the address of Ollama's server, from OLLAMA_HOST if it is set."""
    # A server that listens on 0.0.0.0, that is everywhere, is reached on 127.0.0.1.
    host = os.environ.get("OLLAMA_HOST", "").strip().rstrip("/")
    host = host.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    if "://" in host:
        return host
    return f"http://{host}" if ":" in host else f"http://{host or '127.0.0.1'}:11434"


def llamacpp_url(port: str = "") -> str:
    """Return the address of a llama.cpp server on this machine."""
    return f"http://127.0.0.1:{port or 8080}"


def free_memory() -> float | None:
    """Return the bytes of memory that a model could use now, or None if that is unknown.

    The memory limit of a container is taken into account.
    """
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(
            int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")
        )
    except (OSError, ValueError, StopIteration):
        return None
    # Not in a container, or in one without a limit ("max").
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit, used = (
            int((group / name).read_text(encoding="ascii"))
            for name in ("memory.max", "memory.current")
        )
        return min(free, limit - used)
    return free


def recommend_model(free: float | None) -> str | None:
    """Return the largest model of SUGGESTIONS that fits into `free` bytes of memory.

    Return None if no model fits, or if `free` is None because the free memory is unknown.
    """
    return next(
        (tag for tag in reversed(SUGGESTIONS) if free is not None and SUGGESTIONS[tag] <= free),
        None,
    )


def list_served_models(ollama: str, llamacpp: str) -> Iterator[tuple[str, str]]:
    """Yield the models that the servers at these two addresses offer.

    Each is yielded as its name for `--model` and the address of its server. A server that cannot be
    reached is skipped.
    """
    for entry in _fetch_model_list(f"{ollama}/api/tags", "models"):
        yield one_line(f"ollama:{entry.get('name')}", limit=_NAME), ollama
    if any(
        entry.get("owned_by") == "llamacpp"
        for entry in _fetch_model_list(f"{llamacpp}/v1/models", "data")
    ):
        yield "llamacpp", llamacpp


def _fetch_model_list(url: str, key: str) -> list[dict[str, object]]:
    try:
        origin, _ = split_url(url)
        request = HttpRequest(method="GET", url=url)
        with closing(Transport(max_body_bytes=_LIST_BYTES, homes={origin.host})) as transport:
            answer = transport.send(request, origin, deadline=time.monotonic() + _WAIT_SECONDS)
        return (
            items_of_type(as_mapping(parse_json(answer.text())).get(key), dict)
            if answer.succeeded
            else []
        )
    except ValueError:
        return []
