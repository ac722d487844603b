# tools: shop
# expect: none
def show(get_order):
    return get_order["status"]

print(show({"status": "open"}), [convert for convert in (1, 2)])
