# tools: places
# kind: match statements
# expect: missing-key line 9
observation = get_observation(observation_id="ob_a2b3c")
match observation:
    case {"category": None, "status": status}:
        print(status)
    case {"category": int(grade), "wind_kt": wind} if grade >= 3:
        print(f"{wind} kt", observation["pressure_mb"])
    case _:
        print("weak")
