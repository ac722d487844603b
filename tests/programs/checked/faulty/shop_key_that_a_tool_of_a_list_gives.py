# tools: shop
# expect: missing-key line 4
# says: list_warehouses (no arguments)
print(get_product(sku="AB-1234")["capacity"])
