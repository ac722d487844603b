# tools: bfcl:vehicle_control
# kind: wrong literal type
# expect: bad-literal line 4
print(lockDoors(unlock="false", door=["driver"])["lockStatus"])
