# tools: shop
# expect: tool-reassigned line 3
def get_product(sku):
    return {"title": "chess", "price": 10}
print(get_product(sku="AB-1234")["title"])
