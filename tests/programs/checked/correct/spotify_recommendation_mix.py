# tools: spotify
# expect: none
top = get_users_top_artists_and_tracks(type="artists", limit=5)["items"]
seeds = [a["id"] for a in top][:3]
genres = sorted({g for a in top for g in a["genres"]})[:2]
query = {"limit": 30, **({"seed_artists": ",".join(seeds)} if seeds else {})}
if genres:
    query |= {"seed_genres": ",".join(genres)}
mix, used = [], set()
for track in get_recommendations(**query)["tracks"]:
    lead = track["artists"][0]["id"]
    if lead in used or track["explicit"]:
        continue
    used.add(lead)
    mix.append(track)
mix.sort(key=lambda t: (-t["popularity"], t["name"].casefold()))
me = get_current_users_profile()
playlist = create_playlist(user_id=me["id"], name=f"Mix for {me['display_name']}", public=False)
for start in range(0, len(mix), 10):
    chunk = mix[start:start + 10]
    add_tracks_to_playlist(playlist_id=playlist["id"], body={"uris": [t["uri"] for t in chunk], "position": start})
print(playlist["external_urls"]["spotify"], len(mix))
