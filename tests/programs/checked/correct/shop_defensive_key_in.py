# tools: shop
# expect: none
found = search_products(query="go")
if "error" in found:
    print(found["error"])
elif "results" in found:
    for r in found["results"]:
        print(r["name"])
else:
    print(found["items"][0]["title"])
