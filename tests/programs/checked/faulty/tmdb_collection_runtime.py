# tools: tmdb
# kind: key of the details tool wanted from the part
# expect: missing-key line 7
found = GET_search_collection(query="The Lord of the Rings")["results"]
saga = GET_collection_collection_id(collection_id=found[0]["id"])
parts = sorted(saga["parts"], key=lambda p: p["release_date"])
minutes = sum(part["runtime"] for part in parts)
print(f"{saga['name']}: {len(parts)} films, {minutes // 60} h {minutes % 60} min")
