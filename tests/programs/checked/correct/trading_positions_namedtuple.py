# tools: bfcl:trading_bot
# expect: none
from typing import NamedTuple

class Position(NamedTuple):
    symbol: str
    shares: int
    price: float

    @property
    def value(self):
        return self.shares * self.price

positions = [
    Position(d["symbol"], d["amount"], d["price"])
    for d in (get_order_details(order_id=n) for n in get_order_history()["order_history"])
    if d["status"].lower() != "cancelled"
]
by_symbol = {}
for p in positions:
    by_symbol.setdefault(p.symbol, []).append(p)
for symbol, owned in sorted(by_symbol.items(), key=lambda kv: -sum(p.value for p in kv[1])):
    shares, cost = sum(p.shares for p in owned), sum(p.value for p in owned)
    print(f"{symbol:<6}{shares:>6}{cost:>12,.2f}")
print(sum(map(lambda p: p.value, positions)))
