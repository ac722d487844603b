# tools: bfcl:memory_vector
# kind: loops
# expect: missing-key line 5
for memory in core_memory_retrieve(query="birthday", top_k=3)["results"]:
    print(memory["text"], memory["score"])
