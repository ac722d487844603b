# tools: spotify
# expect: not-an-object line 4
album = get_an_album(id="4aawyAB9vmqN3uQ7FjRGTy")
print(album["images"]["url"])
