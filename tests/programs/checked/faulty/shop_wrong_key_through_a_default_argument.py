# tools: shop
# expect: missing-key line 5
places = list_warehouses()
def show(rows=places):
    print(rows[0]["name"])
show()
