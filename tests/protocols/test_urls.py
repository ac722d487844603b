"""Strict parsing of URLs, and which hosts are on this machine or its networks."""

from protocols.urls import (
    canonical_host,
    claims_to_be_near,
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
    assert not is_same_owner(
        split_url("https://example.org")[0], split_url("https://example.com")[0]
    )
