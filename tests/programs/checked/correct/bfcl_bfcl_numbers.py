# tools: bfcl
# expect: none
values = [1, 2, 3.5]
print(mean(numbers=values), add(a=1, b=2), absolute_value(number=-4.5))
