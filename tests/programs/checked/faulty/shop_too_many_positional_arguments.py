# tools: shop
# expect: positional-argument line 4
# says: no arguments
print(get_stock_matrix("all")["warehouses"])
