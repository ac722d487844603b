# tools: shop
# expect: none
summary = review_summary(sku="AB-1234")
print(summary["stars"], summary.average, [s["text"] for s in summary["best"]], summary[0], len(summary))
for key in summary:
    print(key.anything)
