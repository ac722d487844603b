"""Messages of a child."""

import pytest

from sandbox.wire import Output, ProgramDone, RunEnded, parse_message


def test_only_known_frames_are_messages():
    assert parse_message(b'{"stdout": "x"}') == Output("x")
    assert parse_message(b'{"done": 1}') == ProgramDone(1)
    for line in (b"[]", b"{", b'{"odd": 1}', b"\xff"):
        with pytest.raises(RunEnded):
            parse_message(line)
