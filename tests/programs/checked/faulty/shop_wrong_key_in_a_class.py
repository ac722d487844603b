# tools: shop
# expect: missing-key line 5
class Report:
    def lines(self, number):
        return [l["amount"] for l in get_order(order_id=number)["lines"]]

print(Report().lines(1))
