"""`atc probe` of several sources."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.labs.loopback import Reply, serving

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def test_an_interruption_ends_all_sources(atc_):
    def answer(seen):
        os.kill(os.getpid(), signal.SIGINT)
        return Reply(body=[{"id": 1}])

    with serving(answer) as server:
        for name in "ab":
            Path(name).mkdir()
            Path(name, "tools.json").write_text(
                json.dumps({f"list_{name}": f"GET {server.url}/{name}"})
            )
        code, _, err = atc_("probe", "a", "b", "-o", "out", "--model", "none", "--rate", "1000")
        assert (code, {seen.path for seen in server.seen}) == (130, {"/a"})
    assert "1/2  a: 1 of 1 tool documented" in err
