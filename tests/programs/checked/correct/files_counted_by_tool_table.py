# tools: bfcl
# expect: none
# why: tools kept in a dict and called through it with different keyword arguments; the tools' names ls, wc, grep and tail are read as values first
HOW = {
    "lines": (wc, {"mode": "l"}, "count"),
    "todo": (grep, {"pattern": "TODO"}, "matching_lines"),
    "end": (tail, {"lines": 1}, "last_lines"),
}


def inspect(file_name: str) -> dict:
    facts = {}
    for label, (tool, options, key) in HOW.items():
        value = tool(file_name=file_name, **options).get(key)
        if value is None:
            continue
        facts[label] = len(value) if isinstance(value, list) else value
    return facts


listing = ls().get("current_directory_content", [])
report = {name: inspect(name) for name in listing if name.endswith((".py", ".md"))}
for name, facts in report.items():
    print(name, *(f"{k}={v!r}" for k, v in facts.items()))
print(sum(f.get("todo", 0) for f in report.values()), "open points")
