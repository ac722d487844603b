# tools: shop
# expect: none
from decimal import Decimal
from fractions import Fraction
from datetime import date, datetime, timedelta, timezone
order = get_order(order_id=1)
price = Decimal(str(order["lines"][0]["unit_price"]))
when = datetime.strptime(order["placed_at"][:10], "%Y-%m-%d")
print(price * 2 + 1, Fraction(1, 3) * order["order_id"], (datetime.now() - when).days > 3, when + timedelta(days=order["shipping"]["days"]), when.date() < date.today())
print(count_visits(day=when.date().isoformat()), count_visits(day=when.strftime("%Y-%m-%d")), count_visits(day=str(date(2024, 2, 29))))
