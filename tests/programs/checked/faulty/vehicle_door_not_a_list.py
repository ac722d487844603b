# tools: bfcl:vehicle_control
# kind: wrong literal type
# expect: bad-literal line 4
state = lockDoors(unlock=False, door="driver")
print(state["lockStatus"])
