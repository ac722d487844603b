# tools: shop
# kind: a null that wins in a merge
# expect: none-value line 5
info = {**review_summary(sku="AB-1234"), **get_product(sku="AB-1234")}
print(info["rating"] + 1, info["title"])
