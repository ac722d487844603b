# tools: shop
# expect: none
# why: exchange_rates is a map with any keys: key views are intersected and subtracted like sets (also from a dict itself), and only common keys are subscripted; zero rates are left out
rates = exchange_rates(base="EUR")
amounts = {"USD": 120.0, "GBP": 80.5, "CHF": 44}
known = rates.keys() & amounts.keys()
missing = amounts.keys() - rates
total = sum(amounts[c] / rates[c] for c in known if rates[c])
checked = {c: convert(amount=amounts[c], source=c, target="EUR") for c in sorted(known)}
print(f"{total:.2f} EUR", *("{}={:.2f}".format(*pair) for pair in checked.items()))
if missing:
    print("No rate for", *sorted(missing))
