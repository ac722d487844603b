# tools: bfcl:memory_kv
# kind: pairs read as objects
# expect: not-an-object line 9
# expect: not-an-object line 10
# expect: unknown-tool line 10
hits = core_memory_key_search(query="user diet preferences", k=3)["ranked_results"]
notes = []
for hit in hits:
    if hit["score"] > 0.4:
        notes.append(memory_kv_core_memory_retrieve(key=hit["key"])["value"])
print("\n".join(notes) or "nothing known")
