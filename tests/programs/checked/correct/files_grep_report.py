# tools: bfcl:gorilla_file_system
# expect: none
import re
from collections import defaultdict
from pathlib import PurePosixPath

LEVEL = re.compile(r"\b(?P<level>ERROR|WARN)\b[:\s]+(?P<text>.+)")
where = pwd()["current_working_directory"]
by_level = defaultdict(list)
for match in find(path=".", name=".log")["matches"]:
    path = PurePosixPath(match)
    cd(folder=path.parent.name or ".")
    for pattern in ("ERROR", "WARN"):
        for line in grep(file_name=path.name, pattern=pattern)["matching_lines"]:
            if m := LEVEL.search(line):
                by_level[m["level"]].append((path.stem, m.group("text").strip()))
    cd(folder="..")
report = "\n".join(
    f"{level} {stem}: {text}" for level, rows in sorted(by_level.items()) for stem, text in rows
)
echo(content=report or "clean", file_name="report.txt")
print(where, {k: len(v) for k, v in by_level.items()})
