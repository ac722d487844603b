# tools: movies
# expect: none
import sys


def offers(words):
    for amount in (10, 50, 90):
        yield search_films(title=words, limit=amount)


if any(search_films(title="sea", limit=amount) for amount in (10, 30, 70)):
    print("some")
first = next((rows for rows in offers("sun") if rows), [])
ordered = next(search_films(title="sky", limit=amount) for amount in (5, 500))
rows = [("short", 10), ("long", 90)]
for label, amount in rows:
    if label == "short":
        print(label, len(search_films(title="ice", limit=amount)))
for amount in (50, 60):
    if len(first) > 3:
        sys.exit()
    print(len(ordered))
sizes = {"small": 5, "large": 50}
for name in ("small", "huge"):
    if name in sizes:
        print(search_films(title="snow", limit=sizes[name]))
wanted = [20, 60]
wanted[1] = 50
for amount in wanted:
    print(len(search_films(title="fog", limit=amount)))
for amount in (20, 60):
    try:
        print(len(search_films(title="dew", limit=amount)))
    except ToolError:
        print("too many")
amounts = [amount for amount in range(10, 100, 10) if amount <= 50]
for amount in amounts:
    print(len(search_films(title="hail", limit=amount)))
page = 1
total = 0
while total < 30 and page < 90:
    total += len(search_films(title="wind", limit=page))
    page += 1
print(sum(amounts), f"{total:>4}")
