# tools: shop
# kind: object given where a list is wanted
# expect: wrong-argument-type line 7
cheap = search_products(query="chess", category="games", max_price=30)["items"]
if cheap:
    pick = min(cheap, key=lambda p: p["price"])
    create_order(customer_id=7, lines={"sku": pick["sku"], "quantity": 1}, gift=True)
    print("ordered", pick["title"])
else:
    print("nothing cheap enough")
