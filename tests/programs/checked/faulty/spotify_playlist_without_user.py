# tools: spotify
# kind: missing argument
# expect: missing-argument line 4
playlist = create_playlist(name="Road trip", description="Long drives", public=False)
print(playlist["id"])
