"""Look-up of host names."""

import pytest

from protocols.http.lookup import NameResolver, UnreachableAddress, look_up


def test_a_name_is_looked_up():
    assert "127.0.0.1" in look_up("localhost", 80, seconds=600.0)


def test_a_near_host_is_refused_to_strangers():
    with pytest.raises(UnreachableAddress):
        NameResolver(None).refuse_near_host("localhost")
    NameResolver(frozenset({"localhost"})).refuse_near_host("localhost")
