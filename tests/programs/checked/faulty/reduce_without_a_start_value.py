# tools: shop
# expect: wrong-operand line 10
# fault: reduce is called without an initial value, so acc is the first line (a dict) and dict + float raises TypeError (with one line, the dict itself comes out)
from functools import reduce


def value_of(lines):
    if not lines:
        return 0.0
    return reduce(lambda acc, line: acc + line["quantity"] * line["unit_price"], lines)


ranking = []
for number in (1001, 1002, 1003):
    order = get_order(order_id=number)
    ranking.append((value_of(order["lines"]), order["order_id"]))

best, order_id = max(ranking)
print(f"Order {order_id}: {best:.2f}")
