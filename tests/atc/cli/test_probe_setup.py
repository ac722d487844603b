"""What a probing by `atc probe` works with."""

import pytest

from tests.atc.cli.test_probe import describe, users
from tests.labs.loopback import serving

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def test_probing_says_whether_it_has_a_model(atc_, monkeypatch):
    with serving(users) as server:
        describe(server)
        _, _, err = atc_("probe", "bare", "-o", "out", "--rate", "1000")
        assert "No model: --model local adds" in err
        monkeypatch.setenv("ATC_MODEL", "none")
        code, _, err = atc_("probe", "bare", "-o", "out", "--rate", "1000")
        assert (code, "No model" in err) == (0, False)
