# tools: spotify
# expect: none
# why: The objects of an own class are sorted without a key, which its __lt__ allows, and its attributes are not keys of a response.
from dataclasses import dataclass, field


@dataclass
class Release:
    title: str
    year: int | None
    artists: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, album) -> "Release":
        digits = album["release_date"][:4]
        names = [a["name"] for a in album["artists"] if "name" in a]
        return cls(album["name"] or "(taken down)", int(digits) if digits.isdecimal() else None, names)

    @property
    def line(self) -> str:
        return f"{self.year or '????'} {self.title} - {' & '.join(self.artists) or 'various'}"

    def __lt__(self, other: "Release") -> bool:
        return (self.year or 0, self.title) < (other.year or 0, other.title)


releases = map(Release.of, get_new_releases(limit=20)["items"])
for release in sorted(releases, reverse=True):
    print(release.line)
