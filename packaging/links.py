"""Names the links of a site that lead nowhere, and fails if there are some: python links.py SITE"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """A page, with its links and what they can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name == "id":
                self.ids.add(value)


site = Path(sys.argv[1]).resolve()
pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
broken = []
for path, page in pages.items():
    for link in page.links:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            continue
        start = site if url.path.startswith("/") else path.parent
        target = (start / unquote(url.path).lstrip("/")).resolve() if url.path else path
        is_there = target.exists()
        if is_there and url.fragment and target in pages:
            is_there = unquote(url.fragment) in pages[target].ids
        if not is_there:
            broken.append(f"{path.name}: {link}")
print(*broken, sep="\n")
count = sum(len(page.links) for page in pages.values())
print(f"{len(pages)} pages, {count} links, {len(broken)} of them broken")
sys.exit(1 if broken or not count else 0)
