# tools: shop
# expect: wrong-operand line 4
for product in search_products(query="chess")["items"]:
    if product > 10:
        print(product["title"])
