# tools: places
# kind: name before assignment
# expect: used-before-assignment line 4
print(describe("ci_a2b3c"))


def describe(city_id):
    return get_city(city_id=city_id)["name"]
