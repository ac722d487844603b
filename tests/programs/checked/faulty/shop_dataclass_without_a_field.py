# tools: shop
# expect: missing-argument line 14
from dataclasses import dataclass


@dataclass
class Line:
    sku: str
    quantity: int
    price: float = 0.0


lines = [Line(l["sku"], l["quantity"]) for l in get_order(order_id=1)["lines"]]
lines.append(Line("AB-1234", price=2.5))
print(sum(line.quantity * line.price for line in lines))
