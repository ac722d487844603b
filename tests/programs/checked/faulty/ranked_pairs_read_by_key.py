# tools: bfcl
# expect: not-an-object line 7
# fault: ranked_results is a list of lists (score, key); hit["key"] indexes a list with a string
def best_memories(query, limit=3):
    found = archival_memory_key_search(query=query, k=limit).get("ranked_results", [])
    for hit in found:
        key = hit["key"]
        yield key, memory_kv_archival_memory_retrieve(key=key).get("value", "")


lines = []
for key, value in best_memories("favourite food"):
    lines.append(f"{key}: {value}")
print("\n".join(lines) or "nothing remembered")
