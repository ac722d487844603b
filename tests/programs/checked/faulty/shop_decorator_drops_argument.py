# tools: shop
# expect: missing-argument line 7
# expect: positional-argument line 17
def told(function):
    def inner():
        print("calling")
        return function()

    return inner


@told
def city(code):
    return next((w["city"] for w in list_warehouses() if w["code"] == code), None)


print(city("B1"))
