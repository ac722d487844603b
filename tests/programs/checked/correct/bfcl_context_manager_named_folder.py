# tools: bfcl
# expect: none
# why: The context manager is called positionally and has the name of cd's argument; its value comes from yield inside of try/finally.
from contextlib import contextmanager


@contextmanager
def folder(name):
    where = cd(folder=name)
    try:
        yield where.get("current_working_directory", name)
    finally:
        cd(folder="..")


totals = {}
for name in ("logs", "data"):
    with folder(name) as here:
        for entry in ls().get("current_directory_content", []):
            stem, dot, ending = entry.rpartition(".")
            if not (stem and dot):
                continue
            counted = wc(file_name=entry, mode="l").get("count", 0)
            totals[here, ending] = totals.get((here, ending), 0) + counted

for (here, ending), lines in sorted(totals.items()):
    print(f"{here}: {lines} lines in .{ending} files")
if not totals:
    print("no files")
