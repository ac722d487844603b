# tools: bfcl:memory_vector
# expect: none
known = {m["id"]: m["text"] for m in core_memory_retrieve_all()["results"]}
for hit in archival_memory_retrieve(query="hobbies", top_k=5)["results"]:
    if hit["similarity_score"] < 0.5 or hit["text"] in known.values():
        continue
    new_id = core_memory_add(text=hit["text"])["id"]
    known[new_id] = hit["text"]
print(len(known), "; ".join(text for _, text in sorted(known.items())))
