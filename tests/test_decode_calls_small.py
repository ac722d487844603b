"""Calls that a real small model writes, held by a real runtime."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc.decode.call import Sampling, write_call
from atc.decode.formats import FUNCTION, JSON_CALL, TOOLDEC, CallFormat
from atc.decode.prompt import call_prompt
from atc.models.fetch import SMOLLM2, cached
from atc.models.local import LocalModel
from benchmarks.decoding.rivals import write_backtracking
from protocols.toolbox import Toolbox
from tests.decode_calls_lab import NUMBER, TOOLS, tool

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


@pytest.mark.parametrize(("form", "temperature"), [(FUNCTION, 0.0), (JSON_CALL, 2.0), (TOOLDEC, 2.0)])
def test_a_call_is_valid_at_any_temperature(model: LocalModel, form: CallFormat, temperature: float) -> None:
    sampling = Sampling(temperature=temperature, seed=5, max_tokens=300)
    messages = call_prompt(TASK, FEW, form, "names")
    written = write_call(model, messages, FEW, form=form, sampling=sampling, text_characters=60)
    assert (written.call.error, written.enforced, written.how) == (None, True, "grammar")


def test_backtracking_goes_back_and_counts_what_it_takes(model: LocalModel) -> None:
    only = Toolbox([tool("volume_of_cube", side=NUMBER, unit={"enum": ["cm", "inch"]})])
    written = write_backtracking(
        model,
        call_prompt(TASK, only, FUNCTION, "names"),
        only,
        steps=2,
        form=FUNCTION,
        sampling=Sampling(max_tokens=24),
    )
    assert written.tries == written.requests
    assert written.tries == 3 or written.valid
    assert written.output_tokens <= 24 * written.requests
