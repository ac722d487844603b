# tools: spotify
# expect: doubled-argument line 11
# fault: The options hold name already, so create_playlist gets the argument name twice.
from datetime import date

me = get_current_users_profile()
options = {"name": "Morning run", "public": False, "collaborative": False}
user_id = me.get("id")
if user_id:
    title = f"{options['name']} {date.today():%Y-%m}"
    playlist = create_playlist(user_id=user_id, name=title, **options)
    print(f"Created {playlist.get('name', title)!r} for {me.get('display_name') or user_id}")
else:
    print("No user id")
