"""One call of each tool of the servers, in an order in which all of them can succeed."""

from pathlib import Path
from typing import Any

from benchmarks.mcp_servers.odd_server import RESULTS, SCHEMAS

Calls = list[tuple[str, dict[str, Any]]]
"""Names of tools, each with the arguments of a call."""
ANN = {"name": "Ann", "entityType": "person", "observations": ["sings"]}
BOB = {"name": "Bob", "entityType": "person", "observations": []}
KNOWS = {"from": "Ann", "to": "Bob", "relationType": "knows"}


def filesystem(home: Path) -> Calls:
    file = str(home / "a.txt")
    (home / "dot.png").write_bytes(bytes.fromhex("89504e470d0a1a0a"))
    return [
        ("list_allowed_directories", {}),
        ("write_file", {"path": file, "content": "3.10\n"}),
        ("read_file", {"path": file}),
        ("read_text_file", {"path": file, "head": 1}),
        ("read_media_file", {"path": str(home / "dot.png")}),
        ("read_multiple_files", {"paths": [file]}),
        ("edit_file", {"path": file, "edits": [{"oldText": "3.10", "newText": "3.11"}]}),
        ("create_directory", {"path": str(home / "b")}),
        ("list_directory", {"path": str(home)}),
        ("list_directory_with_sizes", {"path": str(home), "sortBy": "size"}),
        ("directory_tree", {"path": str(home)}),
        ("move_file", {"source": file, "destination": str(home / "b" / "a.txt")}),
        ("search_files", {"path": str(home), "pattern": "**/*.txt"}),
        ("get_file_info", {"path": str(home / "b" / "a.txt")}),
    ]


def memory(_home: Path) -> Calls:
    return [
        ("create_entities", {"entities": [ANN, BOB]}),
        ("create_relations", {"relations": [KNOWS]}),
        ("add_observations", {"observations": [{"entityName": "Bob", "contents": ["reads"]}]}),
        ("read_graph", {}),
        ("search_nodes", {"query": "Ann"}),
        ("open_nodes", {"names": ["Bob"]}),
        ("list_resources", {}),
        ("read_resource", {}),
        ("delete_observations", {"deletions": [{"entityName": "Bob", "observations": ["reads"]}]}),
        ("delete_relations", {"relations": [KNOWS]}),
        ("delete_entities", {"entityNames": ["Ann", "Bob"]}),
    ]


def everything(_home: Path) -> Calls:
    return [
        ("echo", {"message": "1e5"}),
        ("get-annotated-message", {"messageType": "success", "includeImage": True}),
        ("get-env", {}),
        ("get-resource-links", {"count": 2}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
        ("get-structured-content", {"location": "New York"}),
        ("get-sum", {"a": 1, "b": 2}),
        ("get-tiny-image", {}),
        ("gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,hello"}),
        ("toggle-simulated-logging", {}),
        ("toggle-subscriber-updates", {}),
        ("trigger-long-running-operation", {"duration": 1, "steps": 1}),
        ("list_resources", {}),
        ("read_resource", {}),
    ]


def git(home: Path) -> Calls:
    repository = str(home)
    calls: Calls = [
        ("git_status", {}),
        ("git_diff_unstaged", {}),
        ("git_add", {"files": ["new.txt"]}),
        ("git_diff_staged", {}),
        ("git_reset", {}),
        ("git_add", {"files": ["new.txt"]}),
        ("git_commit", {"message": "Add a file"}),
        ("git_log", {"max_count": 2}),
        ("git_show", {"revision": "HEAD"}),
        ("git_create_branch", {"branch_name": "side"}),
        ("git_branch", {"branch_type": "local"}),
        ("git_checkout", {"branch_name": "side"}),
        ("git_diff", {"target": "HEAD~1"}),
    ]
    return [(name, {"repo_path": repository, **arguments}) for name, arguments in calls]


def odd(_home: Path) -> Calls:
    special: dict[str, Any] = {
        "draft_07_tuple": ["a", 1],
        "draft_04_bounds": 0.5,
        "draft_03_required": "a",
        "repeated_enum": "a",
    }
    calls = [(name, {"name": special.get(name, "a")}) for name in SCHEMAS]
    return [
        *calls,
        ("no_schema", {"name": "a"}),
        ("list_output", {}),
        *((name, {}) for name in RESULTS),
    ]
