# tools: spotify
# kind: text where a list is wanted
# expect: bad-literal line 4
answer = search(q="Radiohead", type="artist", limit=1)
artist = answer["artists"]["items"][0]
print(artist["name"], artist["followers"]["total"])
