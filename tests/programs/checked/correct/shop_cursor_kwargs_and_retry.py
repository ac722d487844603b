# tools: shop
# expect: none
# why: the tool is wrapped by a decorator factory and called by **arguments, to which cursor is added only when it is text; nullable ratings are filtered before the sort
from functools import wraps


def retry(times):
    def wrap(tool):
        @wraps(tool)
        def call(**arguments):
            for attempt in range(times):
                try:
                    return tool(**arguments)
                except Exception:
                    if attempt == times - 1:
                        raise
        return call
    return wrap


search = retry(3)(search_products)
arguments = dict(query="drill", category="tools", limit=100)
items = []
while True:
    page = search(**arguments)
    items.extend(page["items"])
    if not page["next_cursor"]:
        break
    arguments["cursor"] = page["next_cursor"]
rated = [p for p in items if p["rating"] is not None]
for p in sorted(rated, key=lambda p: (-p["rating"], p["price"]))[:5]:
    print(f"{p['title']:<40}{p['rating']:>5.1f}{p['price']:>10.2f}")
print(f"{len(rated)} of {len(items)} are rated")
