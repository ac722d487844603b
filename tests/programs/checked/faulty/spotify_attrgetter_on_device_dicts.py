# tools: spotify
# expect: no-attribute line 7
# fault: devices are dicts, which have no attribute volume_percent (or name): attrgetter raises AttributeError.
from operator import attrgetter

devices = [d for d in get_a_users_available_devices() if "volume_percent" in d and "name" in d]
loudest_first = sorted(devices, key=attrgetter("volume_percent"), reverse=True)

for device in loudest_first:
    marker = "*" if device.get("is_active") else " "
    print(f"{marker} {device['name']}: {device['volume_percent']}%")
if not devices:
    print("No devices")
