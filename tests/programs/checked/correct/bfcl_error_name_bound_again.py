# tools: bfcl
# expect: none
# why: err is deleted after the except block, but bound again by the later loop; the `continue` makes sure that answer is bound where it is used.
companies = ["Apple", "Zeta Corp", "Omega Industries"]
problems: dict[str, Exception] = {}
symbols: dict[str, str] = {}
for company in companies:
    try:
        answer = get_symbol_by_name(name=company)
    except Exception as err:
        problems[company] = err
        continue
    symbol = answer.get("symbol", "Stock not found")
    if symbol != "Stock not found":
        symbols[company] = symbol

if symbols:
    note = notify_price_change(stocks=[*symbols.values()], threshold=5)
    print(note.get("notification", "no notification"))
for company, err in problems.items():
    print(f"{company}: {type(err).__name__}: {err}")
for company in set(companies) - symbols.keys() - problems.keys():
    print(f"{company}: no symbol")
