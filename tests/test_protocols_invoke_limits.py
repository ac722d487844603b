"""How long a call may take, how much is read, how often and how much at once a host is asked."""

import gzip
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from protocols.invoke import Invoker
from tests.loopback import Reply, failure, http_tool, quick, serving, speaking


def drip(connection, server, start=b"", piece=b"x"):
    connection.sendall(start)
    while not server.stop.wait(0.02):
        connection.sendall(piece)


@pytest.mark.parametrize(
    "script",
    [
        lambda connection, server: server.stop.wait(),
        lambda connection, server: drip(connection, server, b"HTTP/1.1 200 OK\r\nX-Long: "),
        lambda connection, server: drip(connection, server, b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"),
    ],
    ids=["silent", "dripping header", "sized body"],
)
def test_the_time_for_a_call_is_bounded(script):
    calls, _ = quick(timeout_seconds=0.25)
    with speaking(script) as server, calls:
        began = time.monotonic()
        error = failure(calls, server.url, "POST")
        assert 0.2 < time.monotonic() - began < 2
        assert (error.outcome, error.status, len(server.seen)) == ("unknown", None, 1)
        assert error.body == f"no complete answer from {server.netloc} in time"


def flood(start, block):
    """Three gigabytes, counted until the client stops taking them."""

    def script(connection, server):
        connection.sendall(start)
        server.sent = 0
        while server.sent < 3_000_000_000:
            server.sent += connection.send(block)

    return script


@pytest.mark.parametrize("start", [b"Content-Length: 3000000000\r\n\r\n", b"\r\n"])
def test_three_gigabytes_are_not_read(start):
    calls, _ = quick(max_body_bytes=100_000)
    with speaking(flood(b"HTTP/1.1 200 OK\r\n" + start, b"x" * 65536)) as server, calls:
        error = failure(calls, server.url)
        assert (error.status, error.outcome) == (200, "refused")
        assert failure(calls, server.url, "POST").outcome == "unknown"
    assert "the body is over the limit of 100,000 bytes" in error.body
    assert server.sent < 50_000_000


def test_a_compressed_body_is_bounded_after_decompression():
    bomb = gzip.compress(b"0" * 50_000_000)
    calls, _ = quick(max_body_bytes=1_000_000)
    with serving(lambda _: Reply(200, bomb, {"Content-Encoding": "gzip"})) as server, calls:
        failure(calls, server.url)  # imports what it needs
        tracemalloc.start()
        error = failure(calls, server.url)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert "over the limit" in error.body
    assert peak < 10_000_000
    fits = gzip.compress(b"0" * 1_000_000)
    headers = {"Content-Encoding": "gzip", "Content-Type": "text/plain"}
    with serving(lambda _: Reply(200, fits, headers)) as server, calls:
        assert len(calls.bind(http_tool(server.url, output={"type": "string"}))({})) == 1_000_000


def test_connections_are_reused():
    with serving() as server, Invoker() as calls:
        call = calls.bind(http_tool(server.url))
        for _ in range(3):
            call({})
        calls.close()
        call({})
    assert len({seen.client for seen in server.seen[:3]}) == 1
    assert server.seen[3].client != server.seen[0].client


def test_a_host_is_asked_four_times_at_once():
    four, five, crowded = threading.Barrier(4, timeout=5), threading.Barrier(5, timeout=0.2), []

    def answer(_):
        four.wait()  # four do come together
        with suppress(threading.BrokenBarrierError):
            crowded.append(five.wait())
        return Reply(body=1)

    with serving(answer) as server, Invoker() as calls:
        tools = [calls.bind(http_tool(server.url, name=f"t{i}")) for i in range(8)]
        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(lambda tool: tool({}), tools)) == [1] * 8
    assert crowded == []
