# tools: bfcl:gorilla_file_system
# expect: none
def lines_of(name: str) -> list[str]:
    return [line.strip() for line in cat(file_name=name)["file_content"].split("\n") if line.strip()]


numbers = []
for path in find(path=".", name=".csv")["matches"]:
    head, *rows = [line.split(",") for line in lines_of(path.split("/")[-1])] or [[]]
    if "price" in head:
        column = head.index("price")
        numbers += [float(row[column]) for row in rows if len(row) > column]
echo(content="\n".join(map(str, sorted(numbers))), file_name="prices.txt")
print(sort(file_name="prices.txt")["sorted_content"].count("\n"), diff(file_name1="a.txt", file_name2="b.txt")["diff_lines"])
