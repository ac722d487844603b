# tools: flights
# kind: name before assignment
# expect: used-before-assignment line 7
airlines = list_airlines()
codes = [airline["code"] for airline in airlines]
del airlines
print(len(airlines), codes)
