# tools: bfcl:web_search
# expect: none
import json
import re

def urls_in(anything):
    if isinstance(anything, str):
        yield from re.findall(r"https?://[^\s\"'<>]+", anything)
    elif isinstance(anything, dict):
        for value in anything.values():
            yield from urls_in(value)
    elif isinstance(anything, (list, tuple)):
        for value in anything:
            yield from urls_in(value)

results = search_engine_query(keywords="tallest lighthouse in Japan", max_results=5, region="jp-jp")
first = next(urls_in(results), None)
if first is None:
    print("no address in", json.dumps(results)[:80])
else:
    text = fetch_url_content(url=first, mode="truncate")["content"]
    heights = sorted({float(n) for n in re.findall(r"(\d+(?:\.\d+)?)\s*m\b", text)}, reverse=True)
    print(first, heights[:3])
