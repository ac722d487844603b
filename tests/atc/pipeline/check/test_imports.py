"""The modules that the check reports as missing are those that programs cannot import."""

from __future__ import annotations

import pytest

from atc.pipeline.check.imports import NOT_LOADED, is_available
from benchmarks.sandbox.shop import run
from sandbox.zygote import ZygoteSandbox, unavailable
from sandbox.zygote.child.stdlib import PRELOADED


@pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
def test_a_program_has_none_of_them():
    source = (
        "import importlib\n"
        "def has(name):\n"
        "    try:\n        importlib.import_module(name)\n        return True\n"
        "    except ImportError:\n        return False\n"
        f"[name for name in {sorted(NOT_LOADED)} if has(name)]"
    )
    with ZygoteSandbox() as sandbox:
        trace = run(sandbox, source)
    assert (trace.value, trace.failure) == ([], None), trace


def test_what_is_loaded_is_available():
    assert [name for name in PRELOADED if not is_available(name)] == []
    assert not is_available("requests.adapters")
