# tools: shop
# expect: wrong-argument-type line 5
# says: must be a string
tags = get_product(sku="AB-1234")["tags"]
print(search_products(query=tags)["total"])
