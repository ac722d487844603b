"""Calls that a real small model writes, held by a real runtime."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc.decode.call import Sampling, write_call
from atc.decode.formats import TOOLDEC
from atc.decode.prompt import call_prompt
from atc.models.fetch import SMOLLM2, cached
from atc.models.local import LocalModel
from tests.decode_calls_lab import TOOLS

pytestmark = pytest.mark.local_model

TASK = "A cube has sides of 1.31 meters. What is its volume?"
FEW = TOOLS.only(["power", "add", "maximum"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    pytest.importorskip("xllamacpp")
    pytest.importorskip("llguidance")
    path = cached(SMOLLM2)
    if path is None:
        pytest.skip("no small model: fetch it with 'atc models pull smollm2'")
    local = LocalModel(path, threads=1, folder=tmp_path_factory.mktemp("models"))
    yield local
    local.close()


def test_a_call_is_valid_at_any_temperature(model: LocalModel) -> None:
    sampling = Sampling(temperature=2.0, seed=5, max_tokens=300)
    messages = call_prompt(TASK, FEW, TOOLDEC, "names")
    written = write_call(model, messages, FEW, form=TOOLDEC, sampling=sampling, text_characters=20)
    assert (written.call.error, written.enforced, written.how) == (None, True, "grammar")
