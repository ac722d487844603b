# tools: shop
# expect: none
finder = get_order if len("x") > 3 else get_customer
tools = {"order": get_order, "customer": get_customer}
print(tools["order"](order_id=1), finder, [f.__name__ for f in (get_order, get_product)], callable(get_order))
def call(tool, **arguments):
    return tool(**arguments)
print(call(get_order, order_id=1)["status"], call(get_product, sku="AB-1234")["title"])
