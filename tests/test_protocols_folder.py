"""Folders of protocol files."""

import json

import pytest

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.sources.folder import read_folder


def write(folder, **files):
    for name, content in files.items():
        file = folder / name.replace("__", "/").replace("_yaml", ".yaml").replace("_json", ".json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))


def test_every_file_is_read_in_order(tmp_path):
    write(
        tmp_path,
        b_json={"name": "b"},
        a__z_json=[{"name": "z1"}, {"name": "z2"}],
        c_yaml="name: c\ndescription: in YAML\n",
        d_txt="not a protocol",
    )
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.json").write_text("broken")
    (tmp_path / ".x.json").write_text("broken")
    assert [protocol.name for protocol in read_folder(tmp_path)] == ["z1", "z2", "b", "c"]


def test_a_folder_without_protocols(tmp_path):
    write(tmp_path, readme_txt="hello")
    with pytest.raises(
        SourceUnavailable, match=r"has no protocol files \(\*\.json or \*\.yaml\); docs/reference/protocols\.md"
    ):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("{", SourceUnavailable, r"a\.json is neither JSON nor YAML"),
        ("", SourceUnavailable, r"a\.json is empty"),
        ('"text"', InvalidProtocol, r"a\.json: \"text\" is not of type \"object\""),
        ("{}", InvalidProtocol, r"a\.json: \"name\" is a required property"),
        ('[{"name": "a"}, {"name": 5}]', InvalidProtocol, r"a\.json\[1\]: name: 5 is not of type"),
        ('{"openapi": "3.1.0", "paths": {}}', InvalidProtocol, "this is an OpenAPI document, not a protocol"),
    ],
)
def test_a_bad_file_is_named(tmp_path, content, error, message):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(error, match=message):
        read_folder(tmp_path)
