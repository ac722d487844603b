# tools: places
# expect: no-output line 22
# fault: the program ends with an assignment: nothing is ever printed, so the answer is lost
def currency_of(country):
    if country["currency_id"] is None:
        return None
    return get_currency(currency_id=country["currency_id"])


found = search_countries(query="Switzerland", limit=1)
if not found:
    answer = "Switzerland is not in the data."
else:
    country = get_country(country_id=found[0]["country_id"])
    currency = currency_of(country)
    if currency is None:
        answer = f"{country['name']} has no currency."
    else:
        users = list_currency_countries(currency_id=currency["currency_id"])
        answer = f"{currency['name']} ({currency['code']}) is used in {len(users)} countries."

result = {"question": "currency of Switzerland", "answer": answer}
