# tools: shop
# kind: tool defined anew
# expect: tool-reassigned line 4
def get_order(number):
    """Stands in for the tool."""
    ...


print(get_order(1))
