"""What a report shows of extreme, equal or described objects, and of pipelines."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, CredalPartition, FocalSets, report
from credalis._drawing.palette import (
    BASE_COLORS,
    DARK_GROUND,
    INK,
    cluster_colors,
    hex_color,
    on_dark,
)
from credalis._drawing.palette import _contrast as contrast
from credalis._drawing.palette import _rgb as rgb
from credalis.report._charts.ranges import is_beyond, robust_range
from credalis.report._charts.theme import dark_colors
from credalis.report._content.features import rank_ratio, squared_association
from report_page import Page

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


@pytest.fixture(autouse=True)
def _no_library_inside(monkeypatch):
    """Megabytes of plotly.js would only slow these tests down."""
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")


@pytest.fixture
def reported(tmp_path):
    """Write a report and read it."""

    def read(result, X, **options):
        report(result, X, tmp_path / "report.html", **options)
        return Page((tmp_path / "report.html").read_text(encoding="utf-8"))

    return read


@pytest.fixture(scope="module")
def flowers():
    """A frame in its own units, with an index, of three groups."""
    X, y = make_blobs(90, 4, centers=3, cluster_std=1.0, random_state=1)
    names = ["length (mm)", "width (mm)", "mass (g)", "age"]
    frame = pd.DataFrame(100 + 10 * X, columns=names)
    frame.index = pd.Index([f"plant {i}" for i in range(90)], name="plant")
    return frame, y


class TestTitle:
    def test_table_and_day_stand_in_the_title(self, reported):
        page = reported(
            CredalPartition.from_labels([0, 0, 1, 1]),
            np.arange(8.0).reshape(4, 2),
            title="birds <b>.csv",
            date=datetime.date(2026, 5, 3),
        )
        assert "birds &lt;b&gt;.csv, 3 May 2026</title>" in page.text
        assert '<time datetime="2026-05-03">3 May 2026</time></h1>' in page.text

    def test_today_is_the_default(self, reported):
        days = [datetime.date.today()]
        page = reported(CredalPartition.from_labels([0, 1]), np.eye(2))
        days.append(datetime.date.today())
        assert any(f'datetime="{day.isoformat()}"' in page.text for day in days)

    @pytest.mark.parametrize(
        ("options", "message"),
        [({"title": 3}, "title must be a str"), ({"date": "today"}, "date must be a")],
    )
    def test_anything_else_is_refused(self, reported, options, message):
        with pytest.raises(ValueError, match=message):
            reported(CredalPartition.from_labels([0, 1]), np.eye(2), **options)


class TestPipeline:
    def test_the_table_is_shown_as_it_was_before_the_steps(self, flowers, reported):
        frame, _ = flowers
        model = make_pipeline(StandardScaler(), ECM(3, random_state=0)).fit(frame)
        page = reported(model, frame)
        assert "Compared by 4 features (length (mm), width (mm), mass (g)" in page.words
        assert "made by StandardScaler from 4 columns; method ECM" in page.words
        # Units and names are those of the frame.
        views = page.data["views"]
        assert [view["name"] for view in views] == list(frame.columns)
        first = [round(value, 3) for value in frame["age"]]
        assert views[3]["values"] == pytest.approx(first, rel=1e-4)
        assert "plant " in page.hover_texts()[0]
        assert "<h1>ECM report <time" in page.text

    def test_the_code_of_the_page_makes_the_same_result(self, flowers, reported):
        frame, _ = flowers
        model = Pipeline(
            [
                ("scale", StandardScaler()),
                ("nothing", "passthrough"),
                ("reduce", PCA(n_components=2)),
                ("cluster", ECM(3, random_state=0)),
            ]
        ).fit(frame)
        page = reported(model, frame)
        assert "made by StandardScaler and PCA from 4 columns" in page.words
        start = page.words.index("from sklearn.decomposition import PCA")
        code = page.words[start : page.words.index("X must be what")].strip()
        code = "\n".join(line for line in code.split("\n") if "report(" not in line)
        scope = {"X": frame}
        exec(code, scope)
        np.testing.assert_array_equal(
            scope["model"][-1].partition_.masses, model[-1].partition_.masses
        )

    def test_a_table_may_be_given_beside(self, flowers, reported):
        frame, y = flowers
        model = make_pipeline(ECM(3, random_state=0)).fit(frame)
        table = frame.assign(kind=np.array(["a", "b", "c"], dtype=object)[y])
        page = reported(model, frame, data=table, described=["kind"])
        assert page.words.count("kind; of all") == 3

    def test_a_pipeline_of_something_else_is_refused(self, flowers, reported):
        frame, _ = flowers
        with pytest.raises(ValueError, match="result must be a CredalPartition or a"):
            reported(make_pipeline(StandardScaler()).fit(frame), frame)


class TestAxes:
    def test_two_columns_keep_their_names(self, reported):
        X, _ = make_blobs(60, 2, centers=2, random_state=0)
        frame = pd.DataFrame(X, columns=["easting", "northing"])
        model = ECM(2, random_state=0).fit(X)
        layout = reported(model, X, data=frame).figure("picture")["layout"]
        assert layout["xaxis"]["title"]["text"] == "easting"
        assert layout["yaxis"]["title"]["text"] == "northing"

    def test_extreme_objects_do_not_squeeze_the_others(self, reported, rng):
        X = rng.normal(size=(400, 2))
        labels = (X[:, 0] > 0).astype(int)
        X[7] = [60.0, 0.3]
        X[9, 1] = -900.0
        page = reported(CredalPartition.from_labels(labels), X)
        layout = page.figure("picture")["layout"]
        for axis, column in (("xaxis", 0), ("yaxis", 1)):
            low, high = layout[axis]["range"]
            inside = np.delete(X[:, column], [7, 9])
            assert low < inside.min()
            assert inside.max() < high
            assert high - low < 1.2 * np.ptp(inside)
        assert "2 objects so far off" in page.words
        assert 'id="in-place"' in page.text
        # No object is left out.
        shown = [i for trace in page.objects() for i in trace["customdata"]]
        assert sorted(shown) == list(range(400))

    def test_columns_to_choose_have_ends_of_their_own(self, reported, rng):
        X = rng.normal(size=(200, 4))
        X[3, 2] = 1e6
        page = reported(CredalPartition.from_labels(np.arange(200) % 2), X)
        ranges = [view["range"] for view in page.data["views"]]
        assert [each is None for each in ranges] == [True, True, False, True]
        assert ranges[2][1] < 10

    def test_without_extremes_all_is_shown(self, reported, rng):
        X = rng.uniform(size=(200, 2))
        page = reported(CredalPartition.from_labels(np.arange(200) % 2), X)
        assert "range" not in page.figure("picture")["layout"]["xaxis"]
        assert 'id="in-place"' not in page.text

    def test_a_small_cluster_far_away_stays_in_the_picture(self):
        values = np.r_[np.linspace(0, 1, 95), np.linspace(9, 9.2, 6)]
        groups = np.r_[np.zeros(95, dtype=int), np.ones(6, dtype=int)]
        assert robust_range(values, groups) is None

    def test_a_handful_that_squeezes_all_others_does_not(self):
        values = np.r_[np.linspace(0, 1, 995), np.linspace(900, 999, 6)]
        groups = np.r_[np.arange(995) % 3, np.full(6, 3)]
        low, high = robust_range(values, groups)
        assert -0.2 < low < high < 1.2
        assert is_beyond(values, (low, high)).sum() == 6

    @pytest.mark.parametrize(
        ("values", "groups"),
        [
            ([], []),
            ([1.0], [0]),
            ([1.0, 1.0, 1.0, 1.0, 1.0, 5.0], [0] * 6),
            ([np.nan] * 6, [0] * 6),
            ([1.0, 2.0, 3.0], [-1, -1, -1]),
        ],
    )
    def test_what_has_no_clusters_has_no_ends(self, values, groups):
        assert robust_range(np.array(values), np.array(groups, dtype=int)) is None

    def test_far_objects_stand_at_the_end_of_the_delta_axis(self, reported):
        X, y = make_blobs(200, 2, centers=3, random_state=3)
        X[5] = [4000.0, 4000.0]
        page = reported(CredalPartition.from_labels(y), X)
        chart = page.figure("peaks")
        end = chart["layout"]["xaxis"]["range"][1]
        assert end < 100
        assert max(chart["data"][0]["x"]) <= end
        assert "What would be beyond the right end stands there." in page.words


class TestFeatures:
    def test_columns_that_tell_clusters_apart_come_first(self, reported, rng):
        labels = np.arange(120) % 2
        noise, good = rng.normal(size=120), labels + 0.1 * rng.normal(size=120)
        X = np.column_stack([noise, good])
        page = reported(
            CredalPartition.from_labels(labels),
            X,
            data={"noise": noise, "good": good, "word": labels.astype(str)},
        )
        panels = page.text.split('<figure class="panel"><h4>')[1:]
        assert [each[: each.index("<")].strip() for each in panels] == [
            *("word", "good", "noise")
        ]
        cells = page.figure("feature-0")["data"][0]
        assert cells["z"] == [[1.0, 0.0], [0.0, 1.0]]
        assert cells["text"] == [["100", "0"], ["0", "100"]]

    def test_a_histogram_counts_the_objects_of_a_cluster(self, reported):
        values = np.r_[[1.0] * 3, [2.0] * 6, [3.0] * 3, np.full(8, 5.0)]
        labels = np.r_[np.zeros(12, dtype=int), np.ones(8, dtype=int)]
        page = reported(CredalPartition.from_labels(labels), values[:, None])
        first, second, medians = page.figure("feature-0")["data"]
        heights = -np.array(first["y"])
        assert heights.max() == pytest.approx(2 * heights[2], rel=0.01)
        assert min(second["x"]) > max(first["x"])
        assert medians["x"] == [2.0, 5.0]
        assert "median 2<br>half of the 12 objects from 1.75 to 2.25" in first["text"]

    def test_extreme_values_are_counted_at_the_ends(self, reported, rng):
        values = rng.normal(size=300)
        values[4] = 1e9
        page = reported(
            CredalPartition.from_labels(np.arange(300) % 2), values[:, None]
        )
        panel = page.figure("feature-0")
        assert panel["layout"]["xaxis"]["range"][1] < 10
        assert "values beyond the axis are counted at its ends" in page.words

    def test_missing_words_and_numbers_do_not_count(self, reported):
        data = {
            "size": np.r_[np.full(10, np.nan), np.arange(10.0)],
            "kind": np.array((["a", "b"] * 5 + [None] * 10), dtype=object),
        }
        labels = np.repeat([0, 1], 10)
        page = reported(
            CredalPartition.from_labels(labels), np.arange(20.0)[:, None], data=data
        )
        charts = [page.figure("feature-0")["data"], page.figure("feature-1")["data"]]
        shares = next(each[0]["z"] for each in charts if each[0]["type"] == "heatmap")
        assert shares == [[0.5, 0.5], [0.0, 0.0]]
        assert "None" not in page.words

    def test_rank_ratio(self):
        groups = np.array([0, 0, 1, 1])
        assert rank_ratio(np.array([1.0, 2, 3, 1e300]), groups) == pytest.approx(0.8)
        assert rank_ratio(np.ones(4), groups) == 0.0
        assert rank_ratio(np.array([0.0, 1, 0, 1]), groups) == pytest.approx(0.0)

    def test_squared_association(self):
        assert squared_association(np.diag([5, 7, 2])) == pytest.approx(1.0)
        assert squared_association(np.array([[2, 4], [1, 2]])) == pytest.approx(0.0)
        assert squared_association(np.array([[2, 4], [0, 0]])) == 0.0


class TestDescribed:
    def test_a_cluster_says_what_it_is(self, reported):
        labels = np.repeat([0, 1], 50)
        kinds = np.array(["Gentoo"] * 49 + ["Adelie"] * 51, dtype=object)
        page = reported(
            CredalPartition.from_labels(labels),
            np.arange(100.0)[:, None],
            data={"x": np.arange(100.0), "species": kinds},
            described=["species"],
        )
        assert f"98{NARROW_SPACE}% Gentoo" in page.words
        assert f"species; of all 49{NARROW_SPACE}%" in page.words
        assert "species (not compared by)" in page.words

    def test_words_that_say_nothing_are_left_out(self, reported, rng):
        words = np.array(list("abcd"), dtype=object)[rng.integers(0, 4, 200)]
        page = reported(
            CredalPartition.from_labels(np.arange(200) % 2),
            rng.normal(size=(200, 1)),
            data={"x": rng.normal(size=200), "letter": words},
            described=["letter"],
        )
        assert 'class="known"' not in page.text


class TestAlike:
    @pytest.fixture
    def doubtful(self):
        """Four objects between clusters, three of them almost the same."""
        sets = FocalSets.pairs(2)
        masses = np.zeros((24, len(sets)))
        masses[:10, sets.index((0,))] = 1.0
        masses[10:20, sets.index((1,))] = 1.0
        masses[20:, sets.index((0, 1))] = 1.0
        values = np.r_[np.arange(10.0), np.arange(40.0, 50.0), 25.0, 25.1, 24.9, 31.0]
        return CredalPartition(masses, sets), values

    def test_almost_equal_rows_share_one(self, doubtful, reported):
        partition, values = doubtful
        page = reported(partition, values[:, None])
        rows = page.rows["between"][1:]
        assert [row[0].split() for row in rows] == [
            ["20", "and", "2", "like", "it21,", "22"],
            ["23"],
        ]
        assert "almost the same share a row" in page.words
        for i in (21, 22):
            assert f'data-object="{i}"' in page.text

    def test_other_words_need_a_row_of_their_own(self, doubtful, reported):
        partition, values = doubtful
        words = np.array(["a", "b"] * 10 + ["a", "a", "b", "a"], dtype=object)
        page = reported(partition, values[:, None], data={"x": values, "kind": words})
        names = [row[0].split()[0] for row in page.rows["between"][1:]]
        assert names == ["20", "22", "23"]

    def test_a_gap_is_like_no_number(self, doubtful, reported):
        partition, values = doubtful
        page = reported(
            partition,
            values[:, None],
            data={"x": np.where(np.arange(24) == 21, np.nan, values)},
        )
        names = [row[0].split()[0] for row in page.rows["between"][1:]]
        assert names == ["20", "21", "23"]


class TestDark:
    @pytest.mark.parametrize("n_clusters", [2, 8, 20])
    def test_every_colour_of_the_charts_has_a_partner(self, n_clusters, reported):
        X, y = make_blobs(20 * n_clusters, 3, centers=n_clusters, random_state=0)
        page = reported(CredalPartition.from_labels(y), X)
        partners = page.data["dark-colors"]
        known = set(partners) | {"rgba(255,255,255,0.85)"}
        for name, figure in page.data.items():
            if not name.startswith("figure-"):
                continue
            for color in colors_in(figure):
                assert color.lower() in known or rgba_of(color) in known, (name, color)

    def test_marks_and_text_can_be_seen_on_the_dark_page(self):
        ground = rgb(DARK_GROUND)
        for color in [*BASE_COLORS, INK, *map(hex_color, cluster_colors(20))]:
            assert contrast(rgb(on_dark(color)), ground) >= 4.5
        assert dark_colors(3)["white"] == DARK_GROUND

    def test_colours_stay_apart(self):
        lit = [on_dark(hex_color(color)) for color in cluster_colors(20)]
        assert len(set(lit)) == 20


def colors_in(part, key=""):
    """Every colour that a figure names."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from colors_in(value, name)
    elif isinstance(part, list):
        if key in ("x", "y", "z", "text", "hovertext", "customdata", "ticktext"):
            return
        for value in part:
            yield from colors_in(value, key)
    elif isinstance(part, str):
        is_hex = part.startswith("#") and len(part) == 7
        if is_hex or part.startswith("rgba(") or part in ("white", "black"):
            yield part


def rgba_of(color):
    """The solid colour of one that lets others shine through."""
    if not color.startswith("rgba("):
        return color
    channels = [int(each) for each in color[5:].split(",")[:3]]
    return hex_color(np.array(channels) / 255)


def test_the_summary_for_specialists_adds_up_and_is_folded_away(reported, rng):
    focal_sets = FocalSets.pairs(3)
    partition = CredalPartition(rng.dirichlet(np.ones(len(focal_sets)), 40), focal_sets)
    page = reported(partition, rng.normal(size=(40, 2)))
    start = page.text.index('<details id="specialists">')
    text = page.text[start : page.text.index("</details>", start)]
    shares = text[text.index("mean mass") :]
    shares = shares[: shares.index("</tr>")].split(NARROW_SPACE + "%")[:-1]
    assert sum(int(each.split()[-1]) for each in shares) == 100
    assert "8: ∅, 3 of size 1, 3 of size 2, Ω" in text
    assert "Credal partition of 40 objects in 3 clusters" in text
