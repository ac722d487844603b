# tools: bfcl:math_api
# kind: positional argument
# expect: positional-argument line 8
scores = [71, 88, 93, 64]
average = mean(numbers=scores)["result"]
spread = standard_deviation(numbers=scores)["result"]
ratio = divide(a=spread, b=average)["result"]
print("CV:", round_number(ratio, decimal_places=3)["result"])
