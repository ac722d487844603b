# tools: places
# kind: indexing
# expect: missing-key line 5
first = search_storms(query="Ida")[0]
print(first["name"], first["year"])
