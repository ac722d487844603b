# tools: bfcl:gorilla_file_system
# expect: none
where = pwd()["current_working_directory"]
hits = [path.rsplit("/", 1)[-1] for path in find(path=".", name="report")["matches"]]
mkdir(dir_name="archive")
for name in hits:
    if any("TODO" in line for line in grep(file_name=name, pattern="TODO").get("matching_lines", [])):
        continue
    print(mv(source=name, destination="archive"))
here = cd(folder="archive")["current_working_directory"]
print(where, here.split("/")[-1], len(ls()["current_directory_content"]))
