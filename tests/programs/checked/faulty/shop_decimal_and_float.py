# tools: shop
# expect: wrong-operand line 10
# fault: unit_price is a float, and adding a float to the Decimal total is a TypeError
from decimal import Decimal

total = Decimal("0.00")
pieces = 0
order = get_order(order_id=90210)
for line in order["lines"]:
    total += line["quantity"] * line["unit_price"]
    pieces += line["quantity"]
print(f"Order {order['order_id']}: {pieces} pieces, {total.quantize(Decimal('0.01'))}")
