# tools: bfcl:memory_vector
# kind: list walked as a dict
# expect: no-attribute line 10
fresh = "Prefers window seats on long flights"
close = core_memory_retrieve(query="seat preference", top_k=3)["results"]
if not any(hit["similarity_score"] > 0.9 for hit in close):
    core_memory_add(text=fresh)

stored = core_memory_retrieve_all()["results"]
for vec_id, text in stored.items():
    if "aisle" in text:
        core_memory_remove(vec_id=vec_id)
print(len(stored))
