"""What shows that a call only reads."""

import json

import pytest
import yaml

from protocols.effects import is_known_read, likely_action
from protocols.protocol import Annotations, HttpBinding, McpBinding, ToolProtocol
from protocols.sources import load_tools
from tests.labs.paths import DATA

GETS = yaml.safe_load((DATA / "gets.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("effect", ["acts", "reads"])
def test_a_path_alone_shows_a_read_or_not(effect, tmp_path):
    paths = [get for kind in GETS[effect].values() for get in kind if isinstance(get, str)]
    wrong = []
    for path in paths:
        file = tmp_path / "get.json"
        file.write_text(json.dumps([f"GET https://api.example.org{path}"]))
        (tool,) = load_tools(str(file)).values()
        if is_known_read(tool.protocol) != (effect == "reads"):
            wrong.append(path)
    assert wrong == []


def test_names_say_what_tools_probably_do():
    for name, kind in {
        "delete_user": "remove",
        "get_user": "read",
        "create_user": "create",
    }.items():
        protocol = ToolProtocol(name=name, binding=McpBinding(server="s", tool=name))
        assert likely_action(protocol)[0] == kind


def test_a_post_is_no_known_read():
    post = HttpBinding(method="POST", url="https://api.example.org/find")
    assert not is_known_read(ToolProtocol(name="find", binding=post))
    annotated = ToolProtocol(name="find", binding=post, annotations=Annotations(read_only=True))
    assert is_known_read(annotated)
