"""Records that one run writes to a service."""

import pytest

from toolflow_bench.services.operation import Refusal
from toolflow_bench.services.state import ServiceState


def test_records_are_added_changed_and_removed():
    state = ServiceState()
    name = state.add("notes", {"text": "a"}, id_field="id", prefix="no")["id"]
    assert name.startswith("no_")
    state.change("notes", name, otherwise="no such note", text="b")
    assert state.get("notes", name, otherwise="no such note") == {"id": name, "text": "b"}
    assert state.snapshot() == {"notes": [{"text": "b"}]}
    state.remove("notes", name, otherwise="no such note")
    assert state.all("notes") == []
    with pytest.raises(Refusal, match="no such note"):
        state.get("notes", name, otherwise="no such note")
