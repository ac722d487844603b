# tools: shop
# expect: none
import sys


def give_up(why):
    print(why)
    raise SystemExit(1)


product = get_product(sku="AB-1234")
if product["rating"] is not None:
    stars = round(product["rating"])
if product["rating"] is not None:
    print(stars)
if product["stock"] > 0:
    price = product["price"]
else:
    give_up("sold out")
print(price)
try:
    order = get_order(order_id=1)
except ToolError as error:
    last_error = error
    sys.exit(str(error))
print(order["status"])
match order["status"]:
    case "open" | "paid":
        word = "waiting"
    case "shipped" | "cancelled":
        word = "done"
print(word)
if order["status"] == "open":
    mark = "o"
elif order["status"] == "paid":
    mark = "p"
elif order["status"] in ("shipped", "cancelled"):
    mark = "x"
print(mark)
for sku in ("AB-1234", "AB-1235"):
    shown = get_product(sku=sku)
print(shown["title"])
for line in order["lines"]:
    if line["quantity"] > 1:
        many = line
        break
else:
    many = order["lines"][0]
print(many["sku"])
found = False
for line in order["lines"]:
    if line["quantity"] == 7:
        found, seventh = True, line
print(seventh["sku"] if found else "none")
if order["notes"]:
    first = order["notes"][0]
if not order["notes"]:
    first = "-"
print(first)
while True:
    page = search_products(query="go")
    if not page["next_cursor"]:
        break
print(page["total"])
