# tools: bfcl:vehicle_control
# kind: nested paths
# expect: missing-key line 5
status = displayCarStatus(option="doors")["status"]
print(status["doorStatus"]["driver"], status["doorStatus"]["front_left"])
