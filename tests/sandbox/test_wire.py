"""Messages of a child."""

import pytest

from sandbox.wire import Output, PrintedObject, ProgramDone, RunEnded, parse_message


def test_only_known_frames_are_messages():
    assert parse_message(b'{"stdout": "x"}') == Output("x")
    assert parse_message(b'{"done": 1}') == ProgramDone(1)
    printed = parse_message(b'{"done": null, "printed": [[1], 3]}')
    assert printed == ProgramDone(None, PrintedObject([1], 3))
    odd = (b'["a", 1]', b"[1]", b"[1, -1]", b"[1, true]", b"{}", b"null", b"[1, 1e9]")
    lies = [b'{"done": null, "printed": %b}' % one for one in odd]
    for line in (b"[]", b"{", b'{"odd": 1}', b"\xff", *lies):
        with pytest.raises(RunEnded):
            parse_message(line)
