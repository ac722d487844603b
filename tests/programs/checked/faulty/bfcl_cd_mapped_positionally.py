# tools: bfcl
# expect: positional-argument line 5
# fault: map() hands each folder to cd positionally, and the tools take keyword arguments only.
path = ["projects", "reports", "2024"]
steps = list(map(cd, path))
reached = [s.get("current_working_directory", "?") for s in steps]
listing = ls(a=False).get("current_directory_content", [])
csv_files = sorted(f for f in listing if f.lower().endswith(".csv"))
print(f"Now in {reached[-1]}")
print(f"{len(csv_files)} CSV files: {', '.join(csv_files)}")
