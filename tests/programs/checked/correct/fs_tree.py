# tools: bfcl:gorilla_file_system
# expect: none
def size(name):
    return wc(file_name=name, mode="c")["count"]


texts = [name for name in ls(a=False)["current_directory_content"] if name.endswith(".txt")]
sizes = {name: size(name) for name in texts}
for name, count in sorted(sizes.items(), key=lambda x: x[1]):
    print(f"{name:20}{count:>8}")
longest = max(sizes, key=sizes.__getitem__, default="")
if longest:
    first, *_ = cat(file_name=longest)["file_content"].splitlines() or [""]
    print(first.strip(), tail(file_name=longest, lines=2)["last_lines"].count("\n"))
