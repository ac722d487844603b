# tools: bfcl:math_api
# expect: none
numbers = [3, 4.5, 12]
average, spread = (tool(numbers=numbers)["result"] for tool in (mean, standard_deviation))
scaled = [divide(a=subtract(a=n, b=average)["result"], b=spread)["result"] for n in numbers]
print(round_number(number=sum_values(numbers=scaled)["result"], decimal_places=3))
print(max_value(numbers=numbers)["result"] - min_value(numbers=[float(n) for n in numbers])["result"])
share = percentage(part=12, whole=sum(numbers))
print(f"{share['result']:.1f}%", int(power(base=2, exponent=10)["result"]))
