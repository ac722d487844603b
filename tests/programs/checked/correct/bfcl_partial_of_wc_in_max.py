# tools: bfcl
# expect: none
# why: The tool is called through functools.partial; max() compares pairs and has a pair with None as its default, which is tested.
from functools import partial
from operator import itemgetter

count_words = partial(wc, mode="w")
count_lines = partial(wc, mode="l")
files = [f for f in find(path=".", name="report").get("matches", []) if f.endswith((".txt", ".md"))]
files = [f.split("/")[-1] for f in files]

measured = [(count_words(file_name=f).get("count", 0), f) for f in files]
words, name = max(measured, key=itemgetter(0), default=(0, None))
if name is None:
    print("no report found")
else:
    lines = count_lines(file_name=name).get("count", 0)
    density = words / lines if lines else float("nan")
    print(f"{name}: {words} words, {density:.1f} per line")
