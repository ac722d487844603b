# tools: places
# expect: none
country = get_country(country_id="co_a2b3c")
if (currency_id := country["currency_id"]) is None:
    print("no currency")
else:
    currency = get_currency(currency_id=currency_id)
    others = [c for c in list_currency_countries(currency_id=currency_id) if c != country["country_id"]]
    names = [get_country(country_id=other)["name"] for other in others]
    print(currency["code"], currency["name"], *names, sep=", ")
