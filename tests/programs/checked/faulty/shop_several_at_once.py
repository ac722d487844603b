# tools: shop
# expect: unknown-argument line 6
# expect: missing-key line 8
# expect: unknown-tool line 8
# says: review_summary
page = search_products(query="chess", page=2)
for product in page["items"]:
    print(product["cost"], get_reviews(sku=product["sku"]))
