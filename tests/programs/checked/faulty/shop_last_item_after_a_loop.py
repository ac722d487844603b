# tools: shop
# kind: a name that only a loop assigns
# expect: used-before-assignment line 8
# expect: used-before-assignment line 16
for p in search_products(query="chess")["items"]:
    if p["stock"]:
        best = p
print(best["title"])


def last(query):
    for p in search_products(query=query)["items"]:
        if p["price"] > 9:
            found = p
            break
    return found["title"]


print(last("go"))
