# tools: shop
# expect: none
from datetime import date, datetime, timedelta
import datetime as dt

orders = list_orders(customer_id=1, since="2024-01-31")
placed = [datetime.fromisoformat(o["placed_at"].replace("Z", "+00:00")) for o in orders]
gaps = [(b - a).days for a, b in zip(placed, placed[1:])]
days = [(date(2024, 1, 1) + timedelta(days=n)).isoformat() for n in range(3)]
print(gaps, [count_visits(day=d) for d in days], dt.date.today().year - placed[0].year)
