# tools: bfcl:vehicle_control
# kind: wrong literal type
# expect: bad-literal line 4
print(estimate_distance(cityA=94016, cityB="74532")["distance"])
