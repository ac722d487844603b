# tools: shop
# expect: used-before-assignment line 4
for w in list_warehouses():
    total = total + w["capacity"]
print(total)
