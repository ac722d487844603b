# tools: places
# kind: f-strings
# expect: missing-key line 5
observation = get_observation(observation_id="ob_a2b3c")
print(f"{observation['time']}: {observation['wind_speed']:>4} kt")
