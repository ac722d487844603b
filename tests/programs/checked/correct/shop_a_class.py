# tools: shop
# expect: none
class Cart:
    limit = 10

    def __init__(self, customer_id):
        self.customer = get_customer(customer_id=customer_id)
        self.lines = []

    def add(self, sku, quantity=1):
        product = get_product(sku=sku)
        self.lines.append({"sku": product["sku"], "quantity": quantity})
        return self

    @property
    def size(self):
        return sum(line["quantity"] for line in self.lines)

    def buy(self):
        return create_order(customer_id=self.customer["customer_id"], lines=self.lines, gift=False)

cart = Cart(7).add("AB-1234").add("CD-5678", quantity=2)
print(cart.size, cart.buy()["status"])
