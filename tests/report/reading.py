"""HTML as a browser would read it."""

from html.parser import HTMLParser

EMPTY = {"meta", "img", "input", "link"}


class Reader(HTMLParser):
    """Collects tags, links and ids, and sees that every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.ids, self.words = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self.links += [given[key] for key in ("href", "src") if key in given]
        self.ids += [given["id"]] if "id" in given else []
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
