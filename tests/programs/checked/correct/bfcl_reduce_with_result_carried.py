# tools: bfcl
# expect: none
# why: The accumulator of reduce looks like add's response object, but step() takes the number out of it (or keeps the old one).
from functools import reduce

PRICES = {"hotel": 420.0, "train": 89.5, "meals": 133.25}


def step(acc: float, x: float) -> float:
    return add(a=acc, b=x).get("result", acc)


total = reduce(step, PRICES.values(), 0.0)
shares = {
    name: percentage(part=price, whole=total).get("result") if total else None
    for name, price in PRICES.items()
}
for name, share in sorted(shares.items(), key=lambda kv: kv[1] or 0, reverse=True):
    print(f"{name:<8}", "n/a" if share is None else f"{share:.1f} %")
print(f"total: {total:.2f}")
