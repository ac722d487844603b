"""Language models: implementations of `protocols.ask.Ask`, and the choice among them.

`openai.py` any OpenAI-compatible endpoint, each in its own `dialects.py` · `local.py` the embedded models, `held.py`
whether they kept to a grammar · `scripted.py`, `recorded.py` for tests.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from protocols.ask import Ask


def choose(
    name: str | None = None,
    *,
    cache_dir: Path | None = None,
    timeout_seconds: float = 120.0,
    max_retries: int = 4,
    on_progress: Callable[[int, int], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Ask:
    """The model that `name` stands for; nothing is loaded or asked before its first call.

    `local` is the embedded model, `smollm2` a small one (see `LOCAL_MODELS`), `FILE.gguf` one of one's own,
    `scripted:FILE` and `recorded:FILE` replay a file, `openai` is the endpoint's default model and any other name
    (`openai:NAME` too) one of its models. Without a name it is the endpoint if OPENAI_API_KEY or OPENAI_BASE_URL is
    set, else the embedded model, which is fetched into `cache_dir` at its first call. An endpoint has `timeout_seconds`
    for one reply, and a request that failed for a reason that may pass is repeated `max_retries` times.

    Raises:
        ModelUnavailable: the name needs an endpoint and none is set, or a file that cannot be read.
    """
    from atc.models import openai
    from atc.models.download import LOCAL_MODELS

    if name is None:
        name = "openai" if openai.configured() else "local"
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        from atc.models.scripted import ScriptedModel

        return ScriptedModel.load(Path(rest))
    if kind == "recorded" and rest:
        from atc.models.recorded import RecordedModel

        return RecordedModel(rest)
    if name in LOCAL_MODELS or name.endswith(".gguf"):
        from atc.models.local import LocalModel

        folder = cache_dir / "models" if cache_dir is not None else None
        return LocalModel(name, folder=folder, on_progress=on_progress, on_message=on_message)
    named = (rest if kind == "openai" else name) or None
    return openai.OpenAIModel(named, timeout_seconds=timeout_seconds, max_retries=max_retries)
