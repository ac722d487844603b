"""Strict parsing of URLs, and which hosts are on this machine or its networks."""

import pytest

from protocols.urls import (
    Origin,
    canonical_host,
    claims_to_be_near,
    is_loopback,
    is_near,
    is_same_owner,
    is_url,
    split_url,
)


def test_hosts_have_one_name_and_a_place():
    assert split_url("HTTPS://Example.ORG/a?b#c")[0].url == "https://example.org"
    assert split_url("https://example.org:8443/a?b#c")[1] == "/a?b"
    assert not is_url("ftp://x")
    assert is_near("10.0.0.1")
    assert not is_near("93.184.216.34")
    assert claims_to_be_near("localhost")
    assert canonical_host("EXAMPLE.org.") == "example.org"
    assert is_same_owner(
        split_url("https://example.org")[0], split_url("https://api.example.org")[0]
    )
    assert is_same_owner(Origin("http", "localhost", 8000), Origin("http", "127.0.0.1", 8000))
    assert not is_same_owner(Origin("http", "localhost", 8000), Origin("http", "[::1]", 8000))
    assert not is_same_owner(
        split_url("https://example.org")[0], split_url("https://example.com")[0]
    )


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.8.0.1", "[::1]", "::ffff:127.0.0.1"]
)
def test_this_machine_has_few_names(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "2002:7f00:1::1",
        "64:ff9b::7f00:1",
        "::7f00:1",
        "::ffff:0:127.0.0.1",
        "::ffff:8.8.8.8",
        "0.0.0.0",
        "127.0.0.1.nip.io",
        "localhost.example",
    ],
)
def test_an_embedded_address_may_lead_elsewhere(host):
    assert not is_loopback(host)
