# tools: movies
# expect: none
film = get_film(film_id="fm_a2b3c")
certificate = film["certificate_id"] and get_certificate(certificate_id=film["certificate_id"])
print(certificate["code"] if certificate else "none")
minutes = film["runtime_minutes"]
print(f"{minutes // 60}:{minutes % 60:02}" if minutes is not None else "unknown")
