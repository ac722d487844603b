# tools: bfcl:gorilla_file_system
# kind: loops
# expect: not-an-object line 5
for entry in ls(a=True)["current_directory_content"]:
    if entry["type"] == "file":
        print(entry)
