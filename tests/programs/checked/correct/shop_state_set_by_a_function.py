# tools: shop
# expect: none
config = {"order": None}
def load():
    config["order"] = get_order(order_id=1)

if config["order"] is None:
    load()
    print(config["order"]["status"])
order = config["order"]
print(order["lines"][0]["sku"])
