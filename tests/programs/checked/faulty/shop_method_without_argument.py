# tools: shop
# expect: missing-argument line 12
class Basket:
    def __init__(self):
        self.lines = []

    def put(self, sku, quantity):
        self.lines.append({"sku": sku, "quantity": quantity})


basket = Basket()
basket.put("AB-1234")
print(create_order(customer_id=1, lines=basket.lines)["status"])
