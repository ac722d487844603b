# tools: shop
# expect: wrong-operand line 3
print(sum(w["city"] for w in list_warehouses()))
