# tools: spotify
# expect: none
# why: The responses are wrapped into a dict subclass whose __getattr__ looks the keys up, so attribute access on them is right.
class Record(dict):
    """A response whose keys can be read as attributes, None where absent."""

    def __getattr__(self, name):
        value = self.get(name)
        return Record(value) if isinstance(value, dict) else value


devices = [Record(d) for d in get_a_users_available_devices()]
profile = Record(get_current_users_profile())
quiet = [d for d in devices if d.volume_percent is not None and d.volume_percent < 20]
for device in sorted(devices, key=lambda d: (not d.is_active, d.name or "")):
    print(f"{'*' if device.is_active else ' '} {device.name or '?'} ({device.type or 'unknown'})")
followers = profile.followers
print(f"{profile.display_name or 'You'}: {(followers.total if followers else None) or 0} followers")
print(f"{len(quiet)} quiet devices")
