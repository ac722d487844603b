# tools: bfcl
# expect: none
# why: The rows of ranked_results are lists of anything; they are unpacked into two names after their length and the type of the second were tested.
hits = archival_memory_key_search(query="birthday", k=3).get("ranked_results", [])
texts = []
for row in hits:
    if len(row) != 2 or not isinstance(row[1], str):
        continue
    score, key = row
    value = memory_kv_archival_memory_retrieve(key=key).get("value")
    if value is not None:
        texts.append((key, value.strip(), score))

for position, (key, text, score) in enumerate(texts, start=1):
    mark = f"{score:.2f}" if isinstance(score, float) else str(score)
    print(f"{position}. [{key}] {text or '(empty)'} (score {mark})")
else:
    print(f"{len(texts)} of {len(hits)} entries shown")
