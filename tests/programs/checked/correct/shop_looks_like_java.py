# tools: shop
# expect: none
class Main:
    @staticmethod
    def main():
        orders = list_orders(customer_id=1)
        total = 0.0
        i = 0
        while i < len(orders):
            order = orders[i]
            j = 0
            while j < len(order["lines"]):
                total = total + order["lines"][j]["quantity"] * order["lines"][j]["unit_price"]
                j = j + 1
            i = i + 1
        return total

print(Main.main())
