"""A cross-encoder of one's own, on onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atc.retrieve.base import RetrievalUnavailable

if TYPE_CHECKING:
    from atc.retrieve.base import Floats

_BATCH = 32
_LONGEST = 512
"""Tokens of query and document together; of what is longer, the end of the longer of the two is cut off."""
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class OnnxCrossEncoder:
    """A sequence-classification model exported to ONNX: a folder with `model.onnx` and `tokenizer.json`.

    Such as `cross-encoder/ms-marco-MiniLM-L6-v2` on the model hub. The relevance is the first logit where the model
    has one class, else the last class's. Loaded at the first use.
    """

    def __init__(self, folder: str | Path, *, threads: int = 0) -> None:
        self.folder = Path(folder)
        self.name = self.folder.name
        self._threads = threads

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """The model's logit for each text, shape (texts,).

        Raises:
            RetrievalUnavailable: a package or a file is missing, or the file is no such model.
        """
        import numpy as np

        tokenizer, session = self._loaded
        wanted = {item.name for item in session.get_inputs()}
        found = []
        for start in range(0, len(texts), _BATCH):
            pairs = [(_clean(query), _clean(text)) for text in texts[start : start + _BATCH]]
            encoded = tokenizer.encode_batch(pairs)
            columns = {
                "input_ids": [item.ids for item in encoded],
                "attention_mask": [item.attention_mask for item in encoded],
                "token_type_ids": [item.type_ids for item in encoded],
            }
            feed = {name: np.array(rows, np.int64) for name, rows in columns.items() if name in wanted}
            found.append(session.run(None, feed)[0].reshape(len(encoded), -1)[:, -1])
        return np.concatenate(found).astype(np.float32) if found else np.zeros(0, np.float32)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokenizer and the session."""
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as missing:
            raise RetrievalUnavailable(
                f"the reranker {str(self.folder)!r} needs {missing.name!r}; install it with"
                " pip install 'automatic-tool-chain[retrieval]', or search without it."
            ) from missing
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self._threads
        try:
            tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
            session = onnxruntime.InferenceSession(str(self.folder / "model.onnx"), options)
        except Exception as error:  # both raise classes of their own C extensions, and tokenizers a bare Exception
            raise self._unusable(" ".join(str(error).split())[:200]) from error
        if unknown := {item.name for item in session.get_inputs()} - _INPUTS:
            raise self._unusable(f"the model wants {', '.join(sorted(unknown))} too")
        tokenizer.enable_truncation(_LONGEST)
        if tokenizer.padding is None:
            tokenizer.enable_padding()
        return tokenizer, session

    def _unusable(self, why: str) -> RetrievalUnavailable:
        return RetrievalUnavailable(
            f"the reranker {str(self.folder)!r} cannot be used ({why}); it must be a folder with a cross-encoder as"
            " model.onnx and its tokenizer.json."
        )


def _clean(text: str) -> str:
    """Without lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")
