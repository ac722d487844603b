# tools: shop
# expect: none
# why: zip(*matrix) transposes and copes with empty rows; the warehouse names are joined to the rows by zip, whose length differences do no harm
from itertools import accumulate

data = get_stock_matrix()
rows, codes = data["matrix"], data["warehouses"]
capacity = {w["code"]: w["capacity"] for w in list_warehouses()}

print("per product:", list(map(sum, zip(*rows))))
for code, row in zip(codes, rows):
    free = capacity.get(code)
    if free is None:
        print(code, "has no record")
        continue
    *_, used = accumulate(row, initial=0)
    percent = f"{used / free:.0%}" if free > 0 else "n/a"
    empty = [i for i, n in enumerate(row) if n <= 0]
    print(f"{code:<8}{used:>7}{percent:>6}", f"empty: {empty}" if empty else "", sep=" ")
