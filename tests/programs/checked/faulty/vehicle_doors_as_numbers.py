# tools: bfcl:vehicle_control
# kind: wrong literal type
# expect: bad-literal line 4
print(lockDoors(unlock=False, door=[1, 2])["lockStatus"])
