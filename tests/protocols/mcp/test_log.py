"""The last log lines of an MCP server."""

from protocols.mcp.log import ServerLogTail


def test_the_last_lines_become_one():
    log = ServerLogTail()
    assert log.last_lines() == ""
    log.add(b"first\nsec")
    log.add(b"ond\n")
    assert log.last_lines() == "first; second"
    log.replace("gone")
    assert log.last_lines() == "gone"
