# tools: bfcl:gorilla_file_system
# kind: dict of long names walked as pairs
# expect: wrong-unpacking line 11
# expect: wrong-operand line 12
cd(folder="workspace")
counts = {}
for name in ("report.txt", "summary.txt", "appendix.txt"):
    counts[name] = wc(file_name=name, mode="w")["count"]

heavy = []
for name, words in counts:
    if words > 1000:
        heavy.append(name)
echo(content="\n".join(heavy), file_name="heavy.txt")
print(heavy)
