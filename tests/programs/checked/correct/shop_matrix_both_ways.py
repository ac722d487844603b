# tools: shop
# expect: none
# why: rows may be of different length (zip_longest with a fill value) and there may be none (default); zip makes a dict of lists that max looks into
from itertools import zip_longest

data = get_stock_matrix()
columns = [sum(column) for column in zip_longest(*data["matrix"], fillvalue=0)]
by_name = dict(zip(data["warehouses"], data["matrix"]))
best = max(by_name, key=lambda name: sum(by_name[name]), default=None)
empty = [name for name, row in by_name.items() if not any(row)]
print("Per article:", columns)
print("Fullest:", best if best is not None else "no warehouse", "- empty:", empty or "none")
