"""Settings of untrusted folders."""

from atc.core.config import Config
from atc.settings.untrusted import is_within_limit


def test_a_folder_lowers_limits_only():
    below = Config(max_seconds=60)
    assert is_within_limit("max_seconds", 5, below)
    assert not is_within_limit("max_seconds", 61, below)
