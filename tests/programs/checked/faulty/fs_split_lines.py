# tools: bfcl:gorilla_file_system
# kind: methods of str, list and dict
# expect: no-attribute line 4
lines = grep(file_name="log.txt", pattern="ERROR")["matching_lines"].splitlines()
print(len(lines))
