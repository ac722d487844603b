# tools: places
# kind: str.format
# expect: missing-key line 4
print("{name} ({population})".format_map(search_cities(query="Lima")[0]))
