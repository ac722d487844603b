# tools: shop
# expect: wrong-operand line 3
best = max(search_products(query="go")["items"])
print(best["title"])
