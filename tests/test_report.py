import re
from html.parser import HTMLParser

import numpy as np
import pytest

from credalis import ECM, CredalPartition, report
from credalis.datasets import make_four_class


@pytest.fixture(scope="module")
def fitted():
    X, _ = make_four_class(200, random_state=0)
    return ECM(4, random_state=0).fit(X), X


class Checker(HTMLParser):
    """Every tag that needs closing is closed, in order."""

    VOID = ("meta", "img")

    def __init__(self):
        super().__init__()
        self.open = []
        self.images = []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.images.append(dict(attributes))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(path):
    page = path.read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return page, checker


def test_report_is_one_whole_page_without_links_outside(fitted, tmp_path):
    estimator, X = fitted
    report(estimator, X, tmp_path / "report.html")
    page, checker = checked(tmp_path / "report.html")
    assert re.findall(r"(?:src|href)='(?!data:)", page) == []
    assert "http" not in page
    assert len(checker.images) == 2
    assert all(image["alt"] for image in checker.images)


def test_report_says_how_many_objects_are_clear_ambiguous_and_outliers(
    fitted, tmp_path
):
    estimator, X = fitted
    report(estimator, X, tmp_path / "report.html")
    page, _ = checked(tmp_path / "report.html")
    partition = estimator.partition_
    assert (
        f"200 objects in 4 clusters: {partition.lower.sum()} clearly in one, "
        f"{partition.is_ambiguous.sum()} between several, "
        f"{partition.is_outlier.sum()} in none." in page
    )


def test_report_lists_the_most_doubtful_objects_first(fitted, tmp_path):
    estimator, X = fitted
    report(estimator, X, tmp_path / "report.html")
    page, _ = checked(tmp_path / "report.html")
    partition = estimator.partition_
    inside = np.flatnonzero(~partition.is_outlier)
    most = inside[partition.doubt[inside].argmax()]
    rows = page.split("Most doubtful objects")[1]
    assert re.search(r"<td>(\d+)</td>", rows).group(1) == str(most)


def test_partition_alone_can_be_reported(tmp_path):
    partition = CredalPartition.from_labels([0, 0, 1, 1, -1])
    X = np.array([[0.0, 0], [0, 1], [5, 5], [5, 6], [20, 0]])
    report(partition, X, tmp_path / "report.html")
    page, checker = checked(tmp_path / "report.html")
    assert len(checker.images) == 1
    assert "in no cluster" in page


def test_parameters_are_escaped(fitted, tmp_path):
    estimator, X = fitted

    class Nasty(ECM):
        def get_params(self, deep=True):
            return {"init": "<script>alert(1)</script>"}

    nasty = Nasty(4, random_state=0)
    vars(nasty).update(vars(estimator))
    report(nasty, X, tmp_path / "report.html")
    page, _ = checked(tmp_path / "report.html")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_anything_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"result must be a CredalPartition.*got str"):
        report("partition", np.zeros((3, 2)), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
