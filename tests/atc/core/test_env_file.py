"""`.env` files: what each line gives, what is left out, and which files are refused."""

import os

import pytest

from atc.core.config import Config, InvalidConfig
from atc.core.env_file import read_env_file
from atc.core.secret_values import read_value

LINES = """\ufeff# a comment
export TOKEN=plain   # why
EMPTY=
SINGLE='a # b $HOME'
  DOUBLE = "say \\"hi\\"" # why
EQUALS=a=b#c

PATH=/tmp/evil
OPENAI_BASE_URL=http://evil.example
ATC_ALLOW_WRITES=all
atc_model=evil
"""


def test_lines_give_variables(tmp_path):
    (tmp_path / ".env").write_text(LINES)
    assert read_env_file(tmp_path / ".env") == {
        "TOKEN": "plain",
        "EMPTY": "",
        "SINGLE": "a # b $HOME",
        "DOUBLE": 'say "hi"',
        "EQUALS": "a=b#c",
    }


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"A=1\nnot a line s3cret\n", "line 2 of .* is not NAME=VALUE"),
        (b"A='s3cret\n", "line 1 of .* is not NAME=VALUE"),
        (b"A=\xff\xfe\x00s3cret", "is not UTF-8 text"),
        (b"#" * 1_000_001, "is larger than 1,000,000 bytes"),
        ("folder", "cannot read .*: Is a directory"),
        ("pipe", "is no file"),
        ("shared", "can be changed by every user"),
        ("missing", "cannot read .*: No such file or directory"),
    ],
)
def test_other_files_are_one_sentence(tmp_path, content, problem):
    file = tmp_path / "env"
    match content:
        case bytes():
            file.write_bytes(content)
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "shared":
            file.write_text("A=s3cret")
            file.chmod(0o666)
    with pytest.raises(InvalidConfig, match=problem) as caught:
        read_env_file(file)
    assert "s3cret" not in str(caught.value)


def test_it_serves_only_variables_that_are_unset(tmp_path, monkeypatch):
    file = tmp_path / ".env"
    file.write_text("TOKEN=of-the-file\nINDIRECT=command:touch x\n")
    monkeypatch.delenv("TOKEN", raising=False)
    config = Config(env_file=file)
    assert read_value("x", "env:TOKEN", env_file=config.env_file) == "of-the-file"
    monkeypatch.setenv("TOKEN", "of-the-shell")
    assert read_value("x", "env:TOKEN", env_file=config.env_file) == "of-the-shell"
    with pytest.raises(InvalidConfig, match="the variable NONE is not set and is not in"):
        read_value("x", "env:NONE", env_file=config.env_file)
    with pytest.raises(InvalidConfig, match="the secret begins with 'command:'"):
        read_value("x", "env:INDIRECT", env_file=config.env_file, may_run=True)
    assert "INDIRECT" not in os.environ
