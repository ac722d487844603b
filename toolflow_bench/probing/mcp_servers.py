"""MCP servers of others that run on throw-away folders: how each is started, and fresh calls to try what was learned.

The fresh calls are made on another folder, which holds other files, and with other arguments than probing can know.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.jsontypes import Json

_GIT = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
_PYPI = "python -m venv servers && servers/bin/pip install {} 'mcp<2', and put servers/bin on PATH"
_NPM = "npm install -g {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerUnderTest:
    """An MCP server. `prepare` fills a folder and gives the source that starts the server on it.

    `fresh` are tools and arguments; `{folder}` in texts stands for the folder.
    """

    name: str
    program: str
    install: str
    prepare: Callable[[Path, int], str]
    fresh: Sequence[tuple[str, dict[str, Json]]]

    @property
    def missing(self) -> str:
        """Why it cannot be measured here; empty where it can."""
        return "" if shutil.which(self.program) else f"there is no program {self.program!r} on PATH: {self.install}"

    def fresh_calls(self, folder: Path) -> list[tuple[str, dict[str, Json]]]:
        """The fresh calls in a folder."""
        return [(tool, _placed(arguments, str(folder))) for tool, arguments in self.fresh]


def _placed(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace("{folder}", folder)
    if isinstance(value, list):
        return [_placed(part, folder) for part in value]
    return {key: _placed(part, folder) for key, part in value.items()} if isinstance(value, dict) else value


def _files(folder: Path, seed: int) -> str:
    words = [*("harbour", "lantern", "meadow", "orchard")[seed % 4 :], "quarry"]
    (folder / "notes").mkdir(parents=True)
    for number, word in enumerate(words):
        (folder / "notes" / f"{word}.txt").write_text(f"{word}\nsecond line of {word}\n" * (number + 1))
    (folder / "readme.md").write_text("# Things\n\nOne.\nTwo.\n")
    (folder / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return f"mcp:mcp-server-filesystem {folder}"


def _graph(folder: Path, _seed: int) -> str:
    folder.mkdir(parents=True)
    return f"mcp:env MEMORY_FILE_PATH={folder / 'graph.json'} mcp-server-memory"


def _clock(_folder: Path, _seed: int) -> str:
    return "mcp:mcp-server-time"


def _repository(folder: Path, seed: int) -> str:
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "config", "user.name", "Ann")
    _git(folder, "config", "user.email", "ann@example.org")
    for number in range(2 + seed):
        (folder / f"file{number}.txt").write_text(f"line {number} of {seed}\n")
        _git(folder, "add", ".")
        _git(folder, *_GIT, "commit", "-q", "-m", f"change {number}")
    _git(folder, "branch", "side")
    (folder / "file0.txt").write_text("changed\n")
    return f"mcp:mcp-server-git --repository {folder}"


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, timeout=60)  # noqa: S603, S607


_ANN, _BOB = ({"name": name, "entityType": "person", "observations": seen} for name, seen in (
    ("Ann", ["is tall", "likes tea"]), ("Bob", []),
))  # fmt: skip
_KNOWS = {"from": "Ann", "to": "Bob", "relationType": "knows"}

SERVERS = (
    ServerUnderTest(
        name="filesystem",
        program="mcp-server-filesystem",
        install=_NPM.format("@modelcontextprotocol/server-filesystem"),
        prepare=_files,
        fresh=(
            ("list_allowed_directories", {}),
            ("list_directory", {"path": "{folder}"}),
            ("list_directory", {"path": "{folder}/notes"}),
            ("list_directory_with_sizes", {"path": "{folder}/notes", "sortBy": "size"}),
            ("directory_tree", {"path": "{folder}"}),
            ("directory_tree", {"path": "{folder}", "excludePatterns": ["*.md"]}),
            ("read_file", {"path": "{folder}/readme.md"}),
            ("read_text_file", {"path": "{folder}/notes/quarry.txt", "head": 1}),
            ("read_text_file", {"path": "{folder}/readme.md", "tail": 2}),
            ("read_media_file", {"path": "{folder}/dot.png"}),
            ("read_multiple_files", {"paths": ["{folder}/readme.md", "{folder}/absent.txt"]}),
            ("search_files", {"path": "{folder}", "pattern": "**/*.txt"}),
            ("search_files", {"path": "{folder}", "pattern": "nothing-*"}),
            ("get_file_info", {"path": "{folder}/readme.md"}),
            ("get_file_info", {"path": "{folder}/notes"}),
            ("create_directory", {"path": "{folder}/new/deep"}),
            ("write_file", {"path": "{folder}/new/a.txt", "content": "one\n"}),
            ("edit_file", {"path": "{folder}/new/a.txt", "edits": [{"oldText": "one", "newText": "two"}]}),
            (
                "edit_file",
                {"path": "{folder}/readme.md", "edits": [{"oldText": "One.", "newText": "1."}], "dryRun": True},
            ),
            ("move_file", {"source": "{folder}/new/a.txt", "destination": "{folder}/new/b.txt"}),
        ),
    ),
    ServerUnderTest(
        name="memory",
        program="mcp-server-memory",
        install=_NPM.format("@modelcontextprotocol/server-memory"),
        prepare=_graph,
        fresh=(
            ("read_graph", {}),
            ("create_entities", {"entities": [_ANN, _BOB]}),
            ("create_relations", {"relations": [_KNOWS]}),
            ("add_observations", {"observations": [{"entityName": "Bob", "contents": ["is new"]}]}),
            ("read_graph", {}),
            ("search_nodes", {"query": "tea"}),
            ("search_nodes", {"query": "nobody"}),
            ("open_nodes", {"names": ["Ann", "Bob"]}),
            ("delete_observations", {"deletions": [{"entityName": "Bob", "observations": ["is new"]}]}),
            ("delete_relations", {"relations": [_KNOWS]}),
            ("delete_entities", {"entityNames": ["Ann"]}),
        ),
    ),
    ServerUnderTest(
        name="time",
        program="mcp-server-time",
        install=_PYPI.format("mcp-server-time"),
        prepare=_clock,
        fresh=(
            ("get_current_time", {"timezone": "Europe/Oslo"}),
            ("get_current_time", {"timezone": "Asia/Kathmandu"}),
            ("convert_time", {"source_timezone": "UTC", "time": "23:45", "target_timezone": "Pacific/Auckland"}),
            ("convert_time", {"source_timezone": "Asia/Kolkata", "time": "06:00", "target_timezone": "America/Lima"}),
        ),
    ),
    ServerUnderTest(
        name="git",
        program="mcp-server-git",
        install=_PYPI.format("mcp-server-git"),
        prepare=_repository,
        fresh=(
            ("git_status", {"repo_path": "{folder}"}),
            ("git_diff_unstaged", {"repo_path": "{folder}"}),
            ("git_add", {"repo_path": "{folder}", "files": ["file0.txt"]}),
            ("git_diff_staged", {"repo_path": "{folder}", "context_lines": 1}),
            ("git_commit", {"repo_path": "{folder}", "message": "a third"}),
            ("git_log", {"repo_path": "{folder}", "max_count": 2}),
            ("git_show", {"repo_path": "{folder}", "revision": "HEAD"}),
            ("git_diff", {"repo_path": "{folder}", "target": "side"}),
            ("git_create_branch", {"repo_path": "{folder}", "branch_name": "other"}),
            ("git_checkout", {"repo_path": "{folder}", "branch_name": "other"}),
            ("git_branch", {"repo_path": "{folder}", "branch_type": "local"}),
            ("git_reset", {"repo_path": "{folder}"}),
        ),
    ),
)
