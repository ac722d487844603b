# tools: shop
# expect: none
order = get_order(order_id=1)
print("order " + str(order["order_id"]), "x" * order["shipping"]["days"], ",".join(str(l["quantity"]) for l in order["lines"]))
print(order["placed_at"][:10] + "/" + order["status"], "%s of %d" % (order["status"], order["order_id"]))
