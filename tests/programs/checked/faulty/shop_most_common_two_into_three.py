# tools: shop
# expect: wrong-unpacking line 6
from collections import Counter
counts = Counter(o["status"] for o in list_orders(customer_id=1))
if len(counts) > 2:
    first, second, third = counts.most_common(2)
    print(first, second, third)
