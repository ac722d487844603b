# tools: shop
# expect: none
order = get_order(order_id=1)
line = order["lines"][0]
total = line["quantity"] * line["unit_price"]
print(total // 2, total % 7, -total, +total, total ** 2, divmod(line["quantity"], 3), [0] * line["quantity"], "ab" * 2, 2 * "ab", 7 & 3, 1 << 2)
print(order["status"] + "!" * 3, [1] + [l["sku"] for l in order["lines"]], (1,) + (2,), {1} | {2}, {1, 2} - {2}, "%s" % order, "%s %s" % (order["status"], 1))
x = order["shipping"]["days"]
x += 1
x *= 2.5
x -= line["quantity"]
s = ""
s += order["status"]
s *= 2
print(x, s, 10 - x)
