# tools: shop
# expect: used-before-assignment line 6
best = None
def pick():
    for w in list_warehouses():
        if best is None or w["capacity"] > 5:
            best = w
    return best
print(pick())
