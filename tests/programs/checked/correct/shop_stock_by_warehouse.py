# tools: shop
# expect: none
from functools import reduce
from operator import add

cities = {w["code"]: (w["city"], w["capacity"]) for w in list_warehouses()}
stock = get_stock_matrix()
columns = list(zip(*stock["matrix"]))
totals = {name: reduce(add, column, 0) for name, column in zip(stock["warehouses"], columns)}

lines = []
for name, held in totals.items():
    city, capacity = cities.get(name, ("?", 0))
    try:
        share = held / capacity
    except ZeroDivisionError:
        share = float("nan")
    lines.append((share, f"{name} in {city}: {held} pieces ({share:.0%})"))
lines.sort(key=lambda pair: (pair[0] != pair[0], pair[0]))
print("\n".join(text for _, text in lines))
print("empty rows:", sum(not any(row) for row in stock["matrix"]))
