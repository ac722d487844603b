# tools: bfcl:memory_rec_sum
# kind: text method on the whole response
# expect: no-attribute line 5
memory = memory_retrieve()
lines = [l.strip() for l in memory.splitlines() if l.strip()]
if "Birthday: 4 May" not in lines:
    memory_append(text="Birthday: 4 May")
print(len(lines))
