# tools: bfcl
# expect: none
# why: A recursive generator is called twice and yields pairs; the values are of several types, and the nested car_info dict has unknown keys.
def flatten(value, prefix=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from flatten(inner, f"{prefix}[{index}]")
    else:
        yield prefix, value


report = check_tire_pressure()
width = max((len(name) for name, _ in flatten(report)), default=0)
numbers = []
for name, value in flatten(report):
    print(f"{name:<{width}} {value}")
    if name.endswith("TirePressure") and isinstance(value, (int, float)):
        numbers.append(value)
if numbers:
    print(f"spread: {max(numbers) - min(numbers):.1f} psi")
