# tools: shop
# expect: none
def logged(function):
    def wrapper(*args, **kwargs):
        print("calling", function.__name__)
        return function(*args, **kwargs)
    return wrapper

@logged
def order(number):
    return get_order(order_id=number)

print(order(1)["status"], order(2)["lines"][0]["unit_price"])
