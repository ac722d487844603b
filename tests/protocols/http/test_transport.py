"""What is known of a call that failed, what is tried again, and how long, how much and how often at once."""

import gzip
import socket
import struct
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from protocols.call_limits import SourceLimits
from protocols.client import Invoker
from tests.labs.loopback import Reply, closed_port, failure, http_tool, quick, serving, speaking
from tests.labs.patience import PATIENCE


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, "refused"), (409, "unknown"), (429, "unknown"), (500, "unknown"), (302, "unknown"), (307, "refused"),
    ],
)  # fmt: skip
def test_outcomes_of_a_write(status, outcome):
    calls, waits = quick()
    with serving(lambda _: Reply(status, {"detail": "why"})) as server, calls:
        error = failure(calls, server.url, "POST")
    assert (error.status, error.body, error.outcome) == (status, "why", outcome)
    assert (len(server.seen), waits) == (1, [])


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (
            {"code": 7, "message": "no  flight", "error": "Not Found"},
            "application/json",
            "no flight; Not Found",
        ),
        (
            {"detail": [{"loc": ["query", "date"], "msg": "is required"}]},
            "application/json",
            "query.date: is required",
        ),
        ({"odd": [1, "é"]}, "application/json", '{"odd": [1, "é"]}'),
        (b"<html><style>p{}</style><h1>Not &amp;\n found</h1>", "text/html", "Not & found"),
        (
            b"plain\x1b[2J\r\n\x07text \xe2\x80\xae!",
            "text/plain",
            "plain\\x1b[2J \\x07text \\u202e!",
        ),
        (b"", "text/plain", "Not Found"),
        (b"x" * 200_000, "text/plain", "x" * 499 + "…"),
    ],
)
def test_error_bodies_are_short_and_harmless(body, kind, text):
    with serving(lambda _: Reply(404, body, {"Content-Type": kind})) as server, Invoker() as calls:
        assert failure(calls, server.url).body == text


@pytest.mark.parametrize("status", [500, 503])
@pytest.mark.parametrize(
    ("method", "read_only", "tries"), [("GET", None, 3), ("GET", False, 1), ("DELETE", None, 1)]
)
def test_only_reads_are_tried_again_and_not_forever(method, read_only, tries, status):
    calls, _ = quick(retries=2)
    with serving(lambda _: Reply(status)) as server, calls:
        failure(calls, server.url, method, read_only=read_only)
    assert len(server.seen) == tries


@pytest.mark.parametrize(
    ("headers", "waits", "after"),
    [
        ({"Retry-After": "3"}, [3], 3.0),
        ({"Retry-After": "20.5"}, [20.5], 20.5),
        ({"Retry-After": "61"}, [], 61.0),  # over the time of the call
        ({"Retry-After": "9" * 400}, [], 31_536_000.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7"}, [7], None),
        ({"RateLimit": '"default";r=0;t=5'}, [5], None),
    ],
)
def test_a_read_waits_as_long_as_asked(headers, waits, after):
    def answer(_):
        return Reply(429, {"detail": "slow down"}, headers) if len(server.seen) == 1 else Reply(503)

    calls, waited = quick(retries=1, timeout_seconds=60.0)
    with serving(answer) as server, calls:
        error = failure(calls, server.url)
    assert waited == pytest.approx(waits, abs=0.5)
    assert error.status == (503 if waits else 429)
    assert error.retry_after == (None if waits else after)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nobody_listens(method):
    calls, waits = quick(retries=2)
    port = closed_port()
    error = failure(calls, f"http://127.0.0.1:{port}", method)
    assert error.body.startswith(
        f"cannot connect to 127.0.0.1:{port} (Connection refused); check that the service"
    )
    assert (error.status, error.outcome, len(waits)) == (
        None,
        "not_run",
        2 if method == "GET" else 0,
    )
    assert error.curl is not None
    assert error.remedy == f"lookup: {error.body}."


def test_no_secure_connection():
    with serving() as server, Invoker() as calls:
        error = failure(calls, server.url.replace("http", "https"), "POST")
    assert error.outcome == "not_run"
    assert "SSL" in error.body


def reset(connection, _):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    "script",
    [
        lambda connection, server: None,
        reset,
        lambda connection, server: connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"),
        lambda connection, server: connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"
        ),
        lambda connection, server: connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{}"
        ),
        lambda connection, server: connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain"
        ),
        lambda connection, server: connection.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500),
    ],
    ids=["closed", "reset", "not http", "short", "short chunk", "no gzip", "headers without end"],
)
def test_lost_connections_are_unknown_and_reads_repeated(script):
    calls, waits = quick(retries=1)
    with speaking(script) as server, calls:
        error = failure(calls, server.url, "POST")
        assert (error.outcome, error.status, len(server.seen)) == ("unknown", None, 1)
        assert f"the connection to {server.netloc} broke" in error.body
        assert failure(calls, server.url).outcome == "unknown"
    assert len(waits) == 1


# How long a call may take, how much is read, how often and how much at once a host is asked.


def drip(connection, server, start=b"", piece=b"x"):
    connection.sendall(start)
    while not server.stop.wait(0.02):
        connection.sendall(piece)


@pytest.mark.parametrize(
    "script",
    [
        lambda connection, server: server.stop.wait(),
        lambda connection, server: drip(connection, server, b"HTTP/1.1 200 OK\r\nX-Long: "),
        lambda connection, server: drip(
            connection, server, b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
        ),
    ],
    ids=["silent", "dripping header", "sized body"],
)
def test_the_time_for_a_call_is_bounded(script):
    calls, _ = quick(timeout_seconds=0.25)
    with speaking(script) as server, calls:
        began = time.monotonic()
        error = failure(calls, server.url, "POST")
        assert 0.2 < time.monotonic() - began < PATIENCE
        assert (error.outcome, error.status, len(server.seen)) == ("unknown", None, 1)
        assert error.body == (
            f"no complete answer from {server.netloc} within 0.25 s;"
            " allow more with limits.call_seconds (--call-seconds)"
        )


def test_a_host_is_called_at_its_rate():
    with serving() as server:
        calls, waited = quick(source_limits={server.netloc: SourceLimits(requests_per_second=2.0)})
        with calls:
            for path in ("/a", "/b"):  # of one host, whatever the tool
                calls.bind(http_tool(server.url + path))({})
    assert waited == pytest.approx([0.5], abs=0.4)


def test_calls_wait_for_a_host_that_asks():
    def answer(seen):
        return Reply(429, b"", {"Retry-After": "3"}) if seen.method == "POST" else Reply(body=1)

    calls, waited = quick(retries=2)
    with serving(answer) as server, calls:
        assert failure(calls, server.url, "POST").status == 429  # sent once: it may have been done
        assert calls.bind(http_tool(server.url))({}) == 1
    assert [seen.method for seen in server.seen] == ["POST", "GET"]
    assert waited == pytest.approx([3.0], abs=0.5)


def test_a_host_gets_so_many_calls_at_once():
    met, lock, running, most = threading.Barrier(2), threading.Lock(), [0], [0]

    def answer(_):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        met.wait(PATIENCE)
        with lock:
            running[0] -= 1
        return Reply(body=1)

    calls, _ = quick(concurrent_calls=2)
    with serving(answer) as server, calls, ThreadPoolExecutor(6) as pool:
        call = calls.bind(http_tool(server.url))
        assert list(pool.map(lambda _: call({}), range(6))) == [1] * 6
    assert most == [2]


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
    calls, _ = quick(max_body_bytes=100_000, max_file_bytes=1_000_000)
    with speaking(flood(b"HTTP/1.1 200 OK\r\n" + start, b"x" * 65536)) as server, calls:
        error = failure(calls, server.url)
        assert (error.status, error.outcome) == (200, "refused")
        assert failure(calls, server.url, "POST").outcome == "unknown"
    assert "the body is over 1 MB, the most that a file may have" in error.body
    assert "raise limits.max_file_mb" in error.body
    assert server.sent < 50_000_000


def test_a_compressed_body_is_bounded_after_decompression():
    bomb = gzip.compress(b"0" * 50_000_000)
    calls, _ = quick(max_body_bytes=1_000_000, max_file_bytes=2_000_000)
    with serving(lambda _: Reply(200, bomb, {"Content-Encoding": "gzip"})) as server, calls:
        failure(calls, server.url)  # imports what it needs
        tracemalloc.start()
        error = failure(calls, server.url)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert "the most that a file may have" in error.body
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
