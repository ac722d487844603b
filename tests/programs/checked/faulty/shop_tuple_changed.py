# tools: shop
# expect: wrong-operand line 5
pairs = [(w["code"], w["capacity"]) for w in list_warehouses()]
for pair in pairs:
    pair[1] = pair[1] - 5
print(pairs)
