# tools: bfcl
# expect: unknown-argument line 9
# fault: grep has the arguments file_name and pattern only; ignore_case, which comes in through **options, does not exist.
options = {"pattern": "ERROR", "ignore_case": True}
listing = ls(a=True).get("current_directory_content", [])
logs = [name for name in listing if name.endswith(".log")]
hits: dict[str, int] = {}
for name in logs:
    found = grep(file_name=name, **options)
    hits[name] = len(found.get("matching_lines", []))
worst = max(hits, key=hits.get, default=None)
if worst is None:
    print("There are no log files here.")
else:
    print(f"Most errors: {worst} with {hits[worst]} lines")
