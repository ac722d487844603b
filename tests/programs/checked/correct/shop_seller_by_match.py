# tools: shop
# expect: none
# why: the two kinds of seller are told apart by dict patterns, so first_name is read only where it is; Counter over a generator of calls
from collections import Counter


def seller_name(seller: dict) -> str:
    match seller:
        case {"kind": "company", "name": name}:
            return name
        case {"kind": "person", "first_name": first, "last_name": last}:
            return f"{first} {last[:1]}."
    return "unknown"


offers = search_products(query="atlas", category="books", max_price=40)["items"]
sellers = Counter(seller_name(p["seller"]) for p in offers)
top = sellers.most_common(1)
print("{} with {} offers".format(*top[0]) if top else "no offers")
