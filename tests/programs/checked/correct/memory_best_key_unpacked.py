# tools: bfcl:memory_kv
# expect: none
import heapq

queries = ["birthday", "favourite food", "travel plans"]
found = {}
for query in queries:
    for score, key in archival_memory_key_search(query=query, k=3)["ranked_results"]:
        found[key] = max(score, found.get(key, float("-inf")))

known = set(core_memory_list_keys()["keys"])
for key in heapq.nlargest(2, found, key=found.get):
    value = archival_memory_retrieve(key=key)["value"]
    save = core_memory_replace if key in known else core_memory_add
    print(key, "->", save(key=key, value=value)["status"])
print(f"{len(found)} candidate(s), best {max(found.values(), default=0):.2f}")
