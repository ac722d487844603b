# tools: shop
# expect: none
receipt = log_event(payload={"kind": "visit", "pages": [1, 2]})
print(receipt["id"], receipt.get("whatever"), receipt["nested"]["deep"][0])
