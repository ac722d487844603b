# tools: bfcl
# expect: wrong-argument-type line 8
# fault: fetch_url_content takes raw, markdown or truncate as mode; the helper's default "text" is none of them.
import re


def page_words(url, mode="text"):
    body = fetch_url_content(url=url, mode=mode).get("content", "")
    return re.findall(r"[A-Za-z]{4,}", body)


pages = ["https://example.com/a", "https://example.com/b"]
counts = {}
for url in pages:
    words = page_words(url)
    counts[url] = (len(words), len({w.lower() for w in words}))
for url, (total, distinct) in counts.items():
    print(f"{url}: {total} words, {distinct} distinct")
