# tools: bfcl
# expect: missing-key line 3
print(get_stock_info(symbol="AAPL")["cost"])
