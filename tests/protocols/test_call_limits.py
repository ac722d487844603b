"""Limits of calls, of all sources and of one."""

from dataclasses import replace

import pytest

from protocols.call_limits import SourceLimits
from protocols.client import Invoker, InvokeSettings
from protocols.files import FileValue
from tests.labs.loopback import Reply, http_tool, serving


def test_a_source_may_have_limits_of_its_own():
    own = {"api.example.org": SourceLimits(call_seconds=90.0, requests_per_second=2.0)}
    settings = InvokeSettings(timeout_seconds=10.0, max_body_bytes=1_234_567, source_limits=own)
    assert settings.limits_of("other.example.org").call_seconds == 10.0
    limits = settings.limits_of("crm", "api.example.org")
    assert (limits.call_seconds, limits.requests_per_second) == (90.0, 2.0)
    assert limits.max_response_bytes == 1_234_567
    probed = replace(settings, time_option="--timeout")
    assert probed.limits_of("other.example.org").time_advice == "allow more with --timeout"
    assert probed.limits_of("api.example.org").time_advice == limits.time_advice
    assert limits.time_advice == 'allow more with source_limits."api.example.org".call_seconds'


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_hosts_own_limit_holds_for_it(name):
    with serving(lambda _: Reply(body="x" * 5_000)) as server:
        host = server.netloc.replace("127.0.0.1", name)
        own = {host: SourceLimits(max_response_mb=0.001)}
        with Invoker(InvokeSettings(source_limits=own)) as invoker:
            assert isinstance(invoker.bind(http_tool(server.url))({}), FileValue)
        with Invoker(InvokeSettings(max_body_bytes=1_000, source_limits={"h": own[host]})) as all_:
            assert isinstance(all_.bind(http_tool(server.url))({}), FileValue)
        raised = {host: SourceLimits(max_response_mb=1.0)}
        with Invoker(InvokeSettings(max_body_bytes=1_000, source_limits=raised)) as invoker:
            assert invoker.bind(http_tool(server.url))({}) == "x" * 5_000
