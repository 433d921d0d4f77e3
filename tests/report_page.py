"""A report as a parser sees it."""

import json
import re
from html.parser import HTMLParser

import numpy as np


class Page(HTMLParser):
    """What a parser sees in a report; every tag that needs closing must be closed."""

    VOID = ("meta", "img", "source", "br", "input")

    def __init__(self, text):
        super().__init__()
        self.text, self.words = text, ""
        self.open, self.tags, self.headings = [], [], []
        self.scripts, self.data, self.rows = [], {}, {}
        self.section = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in self.VOID:
            self.open.append((tag, attributes))
        if tag == "section":
            self.section = attributes["id"]
            self.rows[self.section] = []
        elif tag == "tr" and self.section:
            self.rows[self.section].append([])
        elif tag in ("td", "th") and self.section:
            self.rows[self.section][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, text):
        tag, attributes = self.open[-1] if self.open else ("", {})
        if tag == "script":
            if attributes.get("type") == "application/json":
                self.data[attributes["id"]] = json.loads(text)
            else:
                self.scripts.append(text)
            return
        if tag == "style":
            return
        self.words += text
        if tag == "h2":
            self.headings.append(text)
        if any(each in ("td", "th") for each, _ in self.open) and self.section:
            self.rows[self.section][-1][-1] += text

    def figure(self, name):
        return self.data[f"figure-{name}"]

    def has_chart(self, name):
        return f"figure-{name}" in self.data

    @property
    def cards(self):
        """What distinguishes each cluster."""
        return re.findall("what distinguishes it</dt><dd>(.*?)</dd>", self.text)

    def hover_texts(self, name="picture"):
        return [
            text
            for trace in self.figure(name)["data"]
            for text in np.ravel(trace.get("hovertext", []))
        ]

    def objects(self):
        """Traces of the picture that show objects."""
        return [
            trace
            for trace in self.figure("picture")["data"]
            if trace.get("meta") == "objects"
        ]
