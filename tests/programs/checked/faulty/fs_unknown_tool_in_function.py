# tools: bfcl:gorilla_file_system
# kind: unknown tool
# expect: unknown-tool line 5
def head(name, count):
    return read_file(file_name=name)["file_content"].splitlines()[:count]


print(head("notes.txt", 3))
