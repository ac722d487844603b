# tools: bfcl
# expect: wrong-argument-type line 14
# fault: the numbers are pieces of a text (strings), while mean's numbers must be a list of numbers
def column(text, index):
    for row in text.splitlines():
        cells = row.split(",")
        if len(cells) > index and cells[index].strip().isdigit():
            yield cells[index].strip()


content = cat(file_name="temperatures.csv").get("file_content", "")
readings = list(column(content, 2))
if readings:
    outcome = mean(numbers=readings)
    print("average:", outcome.get("result", "unknown"))
else:
    print("no readings")
