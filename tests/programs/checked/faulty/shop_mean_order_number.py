# tools: shop
# kind: a fraction for a whole number
# expect: wrong-argument-type line 7
from statistics import mean, fmean
stocks = [p["stock"] for p in search_products(query="go")["items"]]
middle = fmean(stocks) if stocks else 3
print(get_order(order_id=round(middle, 1))["status"])
