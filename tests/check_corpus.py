"""The programs under tests/programs/checked: what each is checked against, and what must be found in it.

A program begins with comment lines: `# tools:` names its toolboxes (see check_lab.BOXES), `# kind:` the kind of fault
where its code does not say it, `# expect: CODE line N` each finding (`none`: there must not be any), N counted in the
file, and `# says:` words that the messages hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("programs") / "checked"


@dataclass(frozen=True)
class CheckedProgram:
    """A program of the corpus with what its header says."""

    name: str
    tools: str
    kind: str
    expected: tuple[tuple[str, int], ...]
    """Codes and lines, sorted."""
    words: tuple[str, ...]
    source: str


def checked_programs(folder: str) -> list[CheckedProgram]:
    """The programs of `faulty`, `correct`, or a folder below one of them, by name."""
    return [read_program(path) for path in sorted((FOLDER / folder).rglob("*.py"))]


def read_program(path: Path) -> CheckedProgram:
    """The program in one file.

    Raises:
        ValueError: its header is not as described above.
    """
    source = path.read_text("utf-8")
    header = dict.fromkeys(("tools", "kind"), "")
    expected: list[tuple[str, int]] = []
    words: list[str] = []
    silent = False
    for field, text in _header(source):
        match field, text.split():
            case "expect", ["none"]:
                silent = True
            case "expect", [code, "line", number]:
                expected.append((code, int(number)))
            case "says", _:
                words.append(text)
            case _:
                header[field] = text
    if not header["tools"] or silent == bool(expected):
        raise ValueError(f"{path}: the header needs `# tools:` and either `# expect: none` or findings")
    name = path.relative_to(FOLDER).with_suffix("").as_posix()
    kind = header["kind"] or (expected[0][0] if expected else "correct")
    return CheckedProgram(name, header["tools"], kind, tuple(sorted(expected)), tuple(words), source)


def _header(source: str) -> Iterator[tuple[str, str]]:
    for line in source.splitlines():
        mark, field, text = line[:2], *line[2:].partition(": ")[::2]
        if mark != "# " or field not in ("tools", "kind", "expect", "says"):
            return
        yield field, text
