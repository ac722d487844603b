# tools: shop
# expect: none
node = get_product(sku="AB-1234")["category"]
path = [node["name"]]
while node["parent"] is not None:
    node = node["parent"]
    path.insert(0, node["name"])
print(" / ".join(path))
