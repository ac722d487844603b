# tools: shop
# expect: wrong-operand line 4
# says: key=
print(sorted(list_warehouses())[0])
