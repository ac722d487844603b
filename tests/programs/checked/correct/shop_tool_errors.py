# tools: shop
# expect: none
def title(sku):
    try:
        return get_product(sku=sku)["title"]
    except ToolError as error:
        if error.status == 404:
            return None
        raise

titles = [t for t in map(title, ["AB-1234", "CD-5678"]) if t]
print(", ".join(titles))
