"""Which writes may be called."""

import pytest

from probing.caller import NotCalled
from tests.labs.loopback import serving
from tests.labs.probing_tools import Lab, tool


def test_fixed_addresses_get_no_new_name(tmp_path):
    with serving() as server:
        write = tool(server.url, "profile", method="PUT", arguments=("title",))
        with (
            Lab(server, tmp_path, [write], allow_writes=True) as probing,
            pytest.raises(NotCalled, match="not told"),
        ):
            probing.call("profile", title=probing.caller.created.mark.text)
    assert server.seen == []


@pytest.mark.parametrize("value", [True, False, None])
@pytest.mark.parametrize("name", ["close_account", "add_account", "account"])
def test_flags_and_nulls_name_no_record(tmp_path, name, value):
    with serving() as server:
        write = tool(server.url, name, method="POST", arguments=("account_id", "note"))
        with Lab(server, tmp_path, [write], allow_writes=True) as probing, pytest.raises(NotCalled):
            probing.call(name, account_id=value, note=probing.caller.created.mark.text)
    assert server.seen == []
