# tools: bfcl
# expect: tool-reassigned line 8
# fault: sort is rebound to the text that the first call gave, so the second call in the loop calls a str
names = ["alpha.txt", "beta.txt", "gamma.txt"]
present = set(ls(a=True).get("current_directory_content", []))
merged = []
for name in filter(present.__contains__, names):
    sort = sort(file_name=name).get("sorted_content", "")
    merged += [row for row in sort.split("\n") if row]

unique = list(dict.fromkeys(merged))
print(len(unique), "different lines")
print(*unique[:10], sep="\n")
