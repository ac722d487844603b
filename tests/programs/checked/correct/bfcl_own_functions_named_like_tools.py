# tools: bfcl
# expect: none
# why: add, sort and find are the program's own functions here, defined over the tools of the same names and rightly called positionally.
def add(left, right=0):
    return left + right


def sort(values, *, descending=False):
    return sorted(values, reverse=descending)


def find(needle, haystack):
    return next((i for i, word in enumerate(haystack) if word == needle), -1)


content = cat(file_name="notes.txt").get("file_content", "")
words = [w.strip(".,;:!?").lower() for w in content.split()]
lengths = sort({len(w) for w in words if w}, descending=True)
total = 0
for word in words:
    total = add(total, len(word))
print(f"first 'todo' at {find('todo', words)}, {add(total)} letters, longest {lengths[0] if lengths else 0}")
