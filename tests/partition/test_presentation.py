"""A credal partition as text, as HTML and as a table."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest

from credalis import CredalPartition, FocalSets
from credalis.partition._presentation import _shares


@pytest.fixture
def example():
    """Two clear objects, one outlier, two between clusters 0 and 1, one unknown."""
    focal_sets = FocalSets.pairs(3)
    masses = np.zeros((6, 8))
    for row, subset in enumerate([(0,), (2,), (), (0, 1), (0, 1), (0, 1, 2)]):
        masses[row, focal_sets.index(subset)] = 0.75
        masses[row, focal_sets.index((0,))] += 0.25
    return CredalPartition(masses, focal_sets)


class TagCounter(HTMLParser):
    """Checks that every tag is closed, and collects the cells of tables."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.cells = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def parsed(partition):
    parser = TagCounter()
    parser.feed(partition._repr_html_())
    parser.close()
    assert parser.open == []
    return parser


class TestSummary:
    def test_counts_of_a_small_partition(self, example):
        # N: object by object 0, 0, .75, .75 log2(2)/log2(3) twice, .75.
        assert example.summary() == (
            "Credal partition of 6 objects in 3 clusters (8 focal sets)\n"
            "\n"
            "cluster  clear  between  most plausible\n"
            "      0      1        3               5\n"
            "      1      0        3               0\n"
            "      2      1        1               1\n"
            "\n"
            "clear           2 (33.3%)  (belief in one cluster at least 0.7)\n"
            "between         3 (50.0%): {0,1} 2, Ω 1\n"
            "outliers        1 (16.7%)  (at least half of the mass on ∅)\n"
            "nonspecificity  0.408  (0 precise, 1 nothing is known)"
        )

    def test_another_level_counts_other_objects(self, example):
        text = example.summary(clear_level=0.8)
        assert "clear           1 (16.7%)  (belief in one cluster at least 0.8)" in text
        assert "between         4 (66.7%): {0,1} 2, {0,2} 1, Ω 1" in text
        with pytest.raises(ValueError, match=r"clear_level must be .* got 0\.5"):
            example.summary(clear_level=0.5)

    def test_what_the_masses_cannot_say_is_said(self, example):
        no_outliers = "No mass is on ∅: this result says nothing about outliers."
        no_doubt = "on one cluster or on ∅: no doubt is expressed."
        hard = CredalPartition.from_labels([0, 1, 1]).summary()
        assert hard.splitlines()[-2] == no_outliers
        assert hard.endswith(no_doubt)
        noisy = CredalPartition.from_labels([0, 1, -1]).summary()
        assert no_outliers not in noisy
        assert noisy.endswith(no_doubt)
        fuzzy = CredalPartition.from_fuzzy([[0.5, 0.5], [1, 0]]).summary()
        assert fuzzy.endswith(no_outliers)
        unsure = CredalPartition.from_rough([[0, 0]], [[1, 1]]).summary()
        assert no_doubt not in unsure
        assert no_outliers not in example.summary()

    def test_many_clusters_are_counted_and_not_listed(self):
        partition = CredalPartition.from_labels(np.arange(40))
        lines = partition.summary().splitlines()
        assert lines[0].startswith("Credal partition of 40 objects in 40 clusters")
        assert lines[3].split() == ["0", "1", "0", "1"]
        assert lines[32].split() == ["29", "1", "0", "1"]
        assert lines[33].strip() == "... 10 more"
        assert lines[34] == ""

    def test_the_most_frequent_sets_between_come_first(self):
        upper = np.array(
            [[1, 1, 0, 0]] * 1
            + [[1, 0, 1, 0]] * 3
            + [[1, 0, 0, 1]] * 2
            + [[0, 1, 1, 0]] * 2
            + [[0, 1, 0, 1]] * 1
            + [[0, 0, 1, 1]] * 1
        )
        partition = CredalPartition.from_rough(np.zeros_like(upper), upper)
        assert (
            "between         10 (100.0%): "
            "{0,2} 3, {0,3} 2, {1,2} 2, {0,1} 1, {1,3} 1, ...\n"
        ) in partition.summary()

    def test_one_cluster_and_no_objects_have_a_summary(self, example):
        one = CredalPartition([[0.2, 0.8], [0.9, 0.1]], FocalSets.singletons(1))
        assert "clear           1 (50.0%)" in one.summary()
        assert "outliers        1 (50.0%)" in one.summary()
        nobody = example[:0].summary()
        assert "Credal partition of 0 objects" in nobody
        assert "outliers        0  (at least" in nobody


class TestHtml:
    def test_the_table_holds_the_counts(self, example):
        parser = parsed(example)
        assert parser.cells == [
            *("cluster", "clear", "between", "most plausible"),
            *("0", "1", "3", "5"),
            *("1", "0", "3", "0"),
            *("2", "1", "1", "1"),
        ]
        assert "of 6 objects in 3 clusters" in parser.text
        assert "clear 2 (33.3%), between 3 (50.0%), outliers 1 (16.7%)" in parser.text

    @pytest.mark.parametrize(
        "partition",
        [
            CredalPartition.from_labels(np.arange(40)),
            CredalPartition.from_labels([0, 0]),
            CredalPartition.from_labels([0, 1])[:0],
        ],
        ids=["many clusters", "one cluster", "no objects"],
    )
    def test_tags_are_balanced_whatever_the_size(self, partition):
        n_rows = min(partition.n_clusters, 30) + (partition.n_clusters > 30)
        assert len(parsed(partition).cells) == 4 * (1 + n_rows)


class TestTables:
    columns = (
        *("label", "set", "outlier", "ambiguous", "doubt"),
        *("pl {0}", "pl {1}", "pl {2}"),
        *("m ∅", "m {0}", "m {1}", "m {2}"),
        *("m {0,1}", "m {0,2}", "m {1,2}", "m Ω"),
    )

    def test_pandas(self, example):
        frame = example.to_pandas()
        assert tuple(frame.columns) == self.columns
        assert frame["label"].tolist() == [0, 2, 0, 0, 0, 0]
        assert frame["set"].tolist() == ["{0}", "{2}", "∅", "{0,1}", "{0,1}", "Ω"]
        assert frame["outlier"].tolist() == [False, False, True, False, False, False]
        assert frame["ambiguous"].tolist() == [False, False, False, True, True, True]
        np.testing.assert_allclose(
            frame["doubt"], [0, 0.25, 0.75, 0.375, 0.375, 0.5], atol=1e-15
        )
        assert example.to_pandas(clear_level=0.8)["set"][1] == "{0,2}"
        assert pd.api.types.is_integer_dtype(frame["label"])
        assert frame["outlier"].dtype == bool
        assert frame["ambiguous"].dtype == bool
        assert (frame.loc[:, "doubt":].dtypes == np.float64).all()
        np.testing.assert_array_equal(frame.loc[:, "m ∅":], example.masses)
        np.testing.assert_array_equal(
            frame.loc[:, "pl {0}":"pl {2}"], example.plausibility
        )

    def test_pandas_with_names_of_objects(self, example):
        frame = example.to_pandas(index=list("abcdef"))
        assert frame.loc["c", "set"] == "∅"
        with pytest.raises(ValueError, match=r"length|Length"):
            example.to_pandas(index=list("abc"))

    def test_pandas_has_the_index_of_the_partition(self, example):
        names = pd.Index(list("abcdef"), name="id")
        partition = CredalPartition(example.masses, example.focal_sets, names)
        assert partition.to_pandas().index.equals(names)
        assert partition.to_pandas().index.name == "id"
        assert partition.to_pandas(index=range(6)).index.tolist() == list(range(6))
        assert partition[[4, 0]].to_pandas().index.tolist() == ["e", "a"]
        assert partition[1:3].to_pandas().index.tolist() == ["b", "c"]
        assert partition.relabel([1, 0, 2]).index is names
        assert partition.normalized("yager").index is names
        assert partition == example
        listed = CredalPartition(example.masses, example.focal_sets, list("abcdef"))
        kept = example.labels == 0
        assert listed[kept].to_pandas().index.tolist() == list("acdef")
        with pytest.raises(ValueError, match="index must hold a name for each"):
            CredalPartition(example.masses, example.focal_sets, ["a"])

    def test_polars(self, example):
        frame = example.to_polars()
        assert tuple(frame.columns) == self.columns
        assert frame["set"].to_list() == ["{0}", "{2}", "∅", "{0,1}", "{0,1}", "Ω"]
        assert frame.schema["label"] == pl.Int64
        assert frame.schema["set"] == pl.String
        assert frame.schema["outlier"] == pl.Boolean
        assert frame.schema["doubt"] == pl.Float64
        np.testing.assert_array_equal(frame[:, 8:].to_numpy(), example.masses)

    def test_a_table_can_be_changed_without_changing_the_partition(self, example):
        frame = example.to_pandas()
        frame.loc[0, "m ∅"] = 7.0
        frame.loc[0, "label"] = 5
        assert example.masses[0, 0] == 0.0
        assert example.labels[0] == 0

    def test_no_objects_and_one_cluster_have_a_table(self, example):
        assert example[:0].to_pandas().shape == (0, 16)
        assert example[:0].to_polars().shape == (0, 16)
        one = CredalPartition([[0.2, 0.8]], FocalSets.singletons(1)).to_pandas()
        assert list(one.columns[5:]) == ["pl {0}", "m ∅", "m {0}"]
        assert one.loc[0, "set"] == "{0}"


class TestSetNames:
    def test_names_by_either_rule(self, example):
        assert example.set_names() == ["{0}", "{2}", "∅", "{0,1}", "{0,1}", "Ω"]
        # The outlier has .25 on {0} and nothing that speaks against it elsewhere;
        # object 5 leaves all open: no plausibility is below .25.
        assert example.set_names("interval_dominance") == [
            *("{0}", "{2}", "{0}", "{0,1}", "{0,1}"),
            "Ω",
        ]

    @pytest.mark.parametrize("n_clusters", [1, 7, 8, 9, 40, 64, 65])
    def test_names_tell_clusters_apart_whatever_their_number(self, n_clusters, rng):
        # Bits are packed in bytes: the last cluster must not get lost.
        focal_sets = FocalSets.singletons(n_clusters)
        columns = rng.permutation(len(focal_sets))
        partition = CredalPartition(np.eye(len(focal_sets))[columns], focal_sets)
        assert partition.set_names() == [focal_sets.names[j] for j in columns]


@pytest.mark.parametrize(
    ("counts", "total", "shares"),
    [
        ((1, 1, 1), 3, ["1 (33.4%)", "1 (33.3%)", "1 (33.3%)"]),
        ((61, 93, 1), 155, ["61 (39.4%)", "93 (60.0%)", "1 (0.6%)"]),
        ((0, 7, 0), 7, ["0 (0.0%)", "7 (100.0%)", "0 (0.0%)"]),
        # Rows without an answer are in the total alone.
        ((1, 1, 0), 3, ["1 (33.3%)", "1 (33.3%)", "0 (0.0%)"]),
        ((0, 0, 0), 0, ["0", "0", "0"]),
    ],
)
def test_shares_add_up(counts, total, shares):
    found = _shares(counts, total)
    assert found == shares
    if sum(counts) == total > 0:
        tenths = [round(10 * float(each.split("(")[1][:-2])) for each in found]
        assert sum(tenths) == 1000
