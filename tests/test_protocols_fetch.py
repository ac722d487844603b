"""Documents from files and addresses: read within limits, every failure one plain sentence."""

import pytest

from protocols.errors import SourceUnavailable
from protocols.sources.fetch import fetch_document, parse
from tests.loopback import Reply, serving


def refusal(location, **more):
    with pytest.raises(SourceUnavailable) as caught:
        fetch_document(location, **more)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("a:\n  200: x\n  on: y\n", {"a": {200: "x", True: "y"}}),
        ("\ufeff{}", {}),
    ],
)
def test_json_and_yaml(tmp_path, text, value):
    file = tmp_path / "d.yaml"
    file.write_text(text, encoding="utf-8")
    assert fetch_document(str(file)) == value


def test_files_that_cannot_be_read(tmp_path):
    assert refusal(f"{tmp_path}/none.json") == f"there is no file '{tmp_path}/none.json'; check the path."
    assert refusal(str(tmp_path)) == f"{str(tmp_path)!r} is a folder, and a document was expected."
    assert "cannot be read" in refusal("a\0b.json")
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    assert "is not text" in refusal(f"{tmp_path}/b")


def test_a_huge_file_is_not_read(tmp_path):
    file = tmp_path / "huge.json"
    with file.open("wb") as sparse:
        sparse.truncate(3_000_000_000)
    assert "larger than 50 MB" in refusal(str(file))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("<!DOCTYPE html><html></html>", "is an HTML page, not a JSON or YAML document; give the address"),
        ('{"a": 1,}{', "is neither JSON nor YAML"),
        ("a: !!python/object:os.system {}", "is neither JSON nor YAML: could not determine a constructor"),
        ("[" * 100_000, "nested too deeply|more than can be read safely"),
        ("a: &x [*x]", "has the alias 'x', which holds itself"),
        ('{"a": ' + "9" * 5000 + "}", "is neither JSON nor YAML: Exceeds the limit"),
    ],
)
def test_text_that_is_no_document(text, problem):
    with pytest.raises(SourceUnavailable, match=f"^d.yaml .*(?:{problem})"):
        parse(text, where="d.yaml")


@pytest.mark.parametrize(
    "merge", ["[*l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}]", "{{<<: [*l{0}, *l{0}, *l{0}, *l{0}]}}"]
)
def test_a_bomb_of_aliases_does_not_go_off(merge):
    lines = ["l0: &l0 {a: 1, b: 2}"] + [f"l{n + 1}: &l{n + 1} {merge.format(n)}" for n in range(30)]
    with pytest.raises(SourceUnavailable, match="holds more than can be read safely once its aliases are written out"):
        parse("\n".join(lines), where="d.yaml")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(404), "answered 404 Not Found; check the address."),
        (Reply(429, headers={"Retry-After": "30"}), "answered 429 Too Many Requests; try again later."),
        (Reply(401), "answered 401 Unauthorized; download the document yourself and give the file as 'FILE@http://"),
        (Reply(body=b"<html>docs</html>"), "is an HTML page"),
    ],
)
def test_answers_that_are_no_document(reply, problem):
    with serving(lambda _: reply) as server:
        assert problem in refusal(f"{server.url}/d")
