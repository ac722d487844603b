# tools: shop
# expect: none
class Missing(Exception):
    def __init__(self, number):
        super().__init__(f"order {number}")
        self.number = number

def order(number):
    try:
        return get_order(order_id=number)
    except ToolError as error:
        raise Missing(number) from error

try:
    print(order(5)["status"])
except Missing as problem:
    print(problem.number, problem)
