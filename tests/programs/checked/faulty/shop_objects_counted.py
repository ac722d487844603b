# tools: shop
# expect: unhashable line 4
from collections import Counter
print(Counter(get_order(order_id=1)["lines"]))
