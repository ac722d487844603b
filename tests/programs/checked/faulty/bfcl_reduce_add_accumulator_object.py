# tools: bfcl
# expect: wrong-argument-type line 7
# fault: add() returns an object {"result": number}, so from the second step of reduce the accumulator given as a is that object and not a number.
from functools import reduce

monthly = [1240.5, 980.0, 1410.25, 1105.75]
total = reduce(lambda acc, x: add(a=acc, b=x), monthly)
average = divide(a=total.get("result", 0.0), b=len(monthly)).get("result")
if average is None:
    print("The average could not be worked out.")
else:
    print(f"Average spending over {len(monthly)} months: {average:.2f}")
