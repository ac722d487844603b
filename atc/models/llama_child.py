"""The child process that runs the local model: llama.cpp's OpenAI-compatible server on loopback.

This file is executed (`python -P llama_child.py`) and never imported. The first line of its stdin
is a JSON object of settings. It answers with one line on stdout, `{"address": …}` or `{"error":
…}`, and serves until stdin closes, which happens when its parent ends for any reason. It then exits
without waiting for a running generation.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

PROMPT_CACHE_MIB = 512
"""Memory in MiB for the states of earlier prompts (28 KB per token). With its state, a prompt need
not be read again.
"""


def parameters(settings: dict[str, Any]) -> Any:
    """Return llama.cpp's parameters. `settings` is what `atc.models.llama.LlamaProcess` sends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["name"]}
    params.n_ctx = settings["context_tokens"]
    # One slot, so that every request can reuse the prompt prefix of the last request.
    params.n_parallel = 1
    # Measured to be as fast as 2048. If a client disconnects, at most 512 tokens are still read.
    params.n_batch = 512
    params.cache_prompt = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    # The first request follows immediately, so a warm-up would only delay it.
    params.warmup = False
    params.verbosity = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    # These endpoints would expose prompts to local processes.
    params.endpoint_slots = False
    params.endpoint_props = False
    if settings["states"]:
        params.slot_save_path = settings["states"].rstrip("/") + "/"
    if settings["api_key"]:
        params.api_keys = [settings["api_key"]]
    return params


def main() -> None:
    """Start llama.cpp's server with the settings on stdin, and serve until stdin is closed."""
    # Saved prompt states must be readable by this user only.
    os.umask(0o077)
    settings = json.loads(sys.stdin.readline())
    answer = os.fdopen(os.dup(1), "w")
    # Output of the C++ code must not mix with the answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        import xllamacpp

        server = xllamacpp.Server(parameters(settings))
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent makes a sentence of it
        answer.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
    else:
        answer.write(json.dumps({"address": server.listening_address}) + "\n")
    answer.close()
    sys.stdin.read()
    # A normal exit would wait for a running generation.
    os._exit(0)


if __name__ == "__main__":
    main()
