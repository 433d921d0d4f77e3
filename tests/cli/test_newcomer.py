"""What somebody sees who types the first command on a table as it comes.

The tables are made up, but look like those that people try first: penguins, passengers
of a ship, airports, and an export from a spreadsheet.
"""

import datetime as dt
import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, homogeneity_score

import credalis
from credalis.tables import open_table
from workbooks import percent, write_xlsx

pytest.importorskip("click")
pytest.importorskip("pyarrow")
pytest.importorskip("plotly")
pytest.importorskip("jinja2")

COMMAND = ("-c", "auto", "--report", "r.html")


def write_csv(path, rows, encoding="utf-8"):
    def cell(value):
        text = "" if value is None else str(value)
        return f'"{text}"' if "," in text else text

    lines = (",".join(map(cell, row)) for row in rows)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))


def penguins():
    """Three kinds on islands; a few cells are not known."""
    rng = np.random.default_rng(1)
    kinds = ["Adelie", "Chinstrap", "Gentoo"]
    means = {
        "Adelie": (38.8, 18.3, 190, 3700),
        "Chinstrap": (48.8, 18.4, 196, 3730),
        "Gentoo": (47.5, 15.0, 217, 5080),
    }
    homes = {
        "Adelie": ["Biscoe", "Dream", "Torgersen"],
        "Chinstrap": ["Dream"],
        "Gentoo": ["Biscoe"],
    }
    header = [
        *("species", "island", "bill_length_mm", "bill_depth_mm"),
        *("flipper_length_mm", "body_mass_g", "sex", "year"),
    ]
    rows = []
    for i in range(120):
        kind = kinds[i % 3]
        sex = rng.choice(["female", "male"])
        size = 1 + 0.03 * (sex == "male") + rng.normal(0, 0.015)
        length, depth, flipper, mass = (
            mean * (size + rng.normal(0, 0.015)) for mean in means[kind]
        )
        measured = [f"{length:.1f}", f"{depth:.1f}", round(flipper), round(mass, -1)]
        if i in (3, 77):
            measured, sex = [None] * 4, None
        sex = None if i in (8, 9, 10) else sex
        year = 2007 + int(rng.integers(0, 3))
        rows.append([kind, rng.choice(homes[kind]), *measured, sex, year])
    return [header, *rows]


def passengers():
    """Names, tickets, cabins that are mostly not known."""
    rng = np.random.default_rng(2)
    header = [
        *("PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "SibSp"),
        *("Ticket", "Fare", "Cabin", "Embarked"),
    ]
    rows = []
    for i in range(90):
        first = i % 3 == 0
        sex = rng.choice(["male", "female"])
        rows.append(
            [
                *(i + 1, int(sex == "female" or first), 1 if first else 3),
                f"Passenger, Mr. No {i}",
                sex,
                None
                if i % 5 == 4
                else round(float(rng.normal(38 if first else 26, 6))),
                int(rng.integers(0, 2)),
                f"A/5 {21000 + 7 * i}",
                f"{rng.normal(80 if first else 10, 2):.4f}",
                f"C{i}" if first and i % 2 else None,
                rng.choice(["S", "C"]),
            ]
        )
    return [header, *rows]


def airports():
    """Codes and names, no two alike; places in three regions; one country."""
    rng = np.random.default_rng(3)
    centers = [(34.0, -118.0), (41.0, -74.0), (61.0, -150.0)]
    rows = [["iata", "name", "city", "country", "latitude", "longitude"]]
    for i in range(90):
        latitude, longitude = rng.normal(centers[i % 3], 1.5)
        rows.append(
            [
                *(f"X{i:02d}", f"Field No {i}, São Tomé", f"Town {i // 2}", "USA"),
                *(f"{latitude:.4f}", f"{longitude:.4f}"),
            ]
        )
    return rows


def export():
    """An index without a name, dates, shares, money as text, an empty column."""
    rng = np.random.default_rng(4)
    rows = [[None, "Order date", "Margin", "Net value", "Region", "Comment"]]
    for i in range(80):
        big = i % 2
        day = dt.date(2024, 1 + 6 * big, 1) + dt.timedelta(int(rng.integers(0, 40)))
        margin = percent(round(0.1 + 0.2 * big + rng.normal(0, 0.02), 4))
        value = f"€ {1000 + 4000 * big + rng.normal(0, 200):,.2f}"
        rows.append([i, day, margin, value, rng.choice(["North", "South"]), None])
    return rows


def labels_of(rows, name):
    place = rows[0].index(name)
    return [row[place] for row in rows[1:]]


def walked(run, *options):
    """A result at the first try, with a report that repeats each decision."""
    result = run("cluster", *options, *COMMAND, "-o", "m.csv")
    assert result.code == 0, result.err
    page = Path("r.html").read_text("utf-8")
    decisions = [line[2:] for line in result.err.splitlines() if line[:2] == "- "]
    said = page[page.index('id="decisions"') :]
    said = unescape(said[: said.index("</ul>")])
    n_told = said.count("<li>")
    # The method is told as such on the page.
    assert len(decisions) - 1 <= n_told <= len(decisions)
    for decision in decisions[:n_told]:
        assert decision in said
    return result, open_table("m.csv").read().to_pydict(), page


def test_penguins(run, tmp_path):
    rows = penguins()
    write_csv(tmp_path / "penguins.csv", rows)
    result, found, page = walked(run, "penguins.csv", "--exclude", "species")
    assert "categories count, equal or not: 'island' 3, 'sex' 2" in result.err
    assert (
        "missing cells leave a column out of a pair of rows: 'bill_length_mm' 2, "
        "'bill_depth_mm' 2, 'flipper_length_mm' 2, 'body_mass_g' 2, 'sex' 5"
        in result.err
    )
    assert None not in found["label"]
    kinds = np.array(labels_of(rows, "species"))
    assert adjusted_rand_score(kinds == "Gentoo", found["label"]) > 0.4
    # What was left out says what the clusters are.
    assert "% Gentoo <small>species; of all " in page


def test_passengers(run, tmp_path):
    write_csv(tmp_path / "titanic.csv", passengers())
    result, found, _ = walked(run, "titanic.csv")
    for column in ("PassengerId", "Name", "Ticket"):
        assert f"'{column}'" in result.err
    assert "'Name' left out: identifies the rows (--id Name keeps it" in result.err
    assert "'PassengerId' left out: numbers the rows" in result.err
    assert "'Cabin' left out: no two cells are alike" in result.err
    assert "'Age' 18" in result.err
    assert len(found["label"]) == 90


def test_airports(run, tmp_path):
    rows = airports()
    write_csv(tmp_path / "airports.csv", rows, encoding="cp1252")
    result, found, _ = walked(run, "airports.csv")
    assert "not UTF-8, read as cp1252" in result.err
    assert "'country' left out: one value everywhere" in result.err
    assert "'city' left out: 45 different texts in 90 rows" in result.err
    assert result.err.count("columns ('latitude', 'longitude')") == 1
    assert adjusted_rand_score(np.arange(90) % 3, found["label"]) > 0.9


def test_a_spreadsheet(run, tmp_path):
    pytest.importorskip("python_calamine")
    write_xlsx(tmp_path / "orders.xlsx", Notes=[["made up"]], Orders=export())
    result, found, _ = walked(run, "orders.xlsx")
    assert "sheet 'Orders' of 'Notes', 'Orders' is read" in result.err
    assert "'x0' left out: no name, as the index of an export" in result.err
    assert "'Order date' is a date, read as days since 1970-01-01" in result.err
    assert (
        "'Net value' is read as numbers with decimal points and commas between "
        "thousands, in €" in result.err
    )
    assert "'Comment' left out: no value at all" in result.err
    # Orders of both halves of the year are not mixed, whatever else is told apart.
    assert homogeneity_score(np.arange(80) % 2, found["label"]) > 0.9


def test_a_model_scores_the_next_export(run, tmp_path):
    pytest.importorskip("python_calamine")
    rows = export()
    write_xlsx(tmp_path / "orders.xlsx", Orders=rows)
    write_xlsx(tmp_path / "next.xlsx", Orders=[rows[0], *rows[-10:]])
    options = ("-c", "2", "--model", "m.credalis", "-o", "m.csv")
    assert run("cluster", "orders.xlsx", *options).code == 0
    assert run("predict", "m.credalis", "next.xlsx", "-o", "n.csv").code == 0
    before = open_table("m.csv").read().to_pydict()["label"]
    assert open_table("n.csv").read().to_pydict()["label"] == before[-10:]
    shown = run("info", "m.credalis").out
    assert "compared by   Gower's dissimilarity" in shown
    assert "read as days since 1970-01-01" in shown
    model = credalis.load("m.credalis")
    assert model.facts["decisions"][0].startswith("'x0' left out")


def test_a_report_shows_dates_and_not_days_since_1970(run, tmp_path):
    write_csv(tmp_path / "sold.csv", [["size", "sold"], *_sales()])
    result = run("cluster", "sold.csv", "-c", "2", "--quiet", "--report", "r.html")
    assert result.code == 0, result.err
    page = unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "late sold (2024-0" in page
    assert "early sold (2021-0" in page
    assert '"type":"date"' in page


def _sales():
    """Small things of 2021 and large ones of 2024, with a gap."""
    rng = np.random.default_rng(0)
    for k in range(60):
        year, size = (2021, 1.0) if k % 2 else (2024, 9.0)
        day = dt.date(year, 1, 1) + dt.timedelta(int(rng.integers(60)))
        yield [round(size + rng.normal(), 2), None if k == 7 else day.isoformat()]


def test_too_few_rows_are_named(run, tmp_path):
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    (tmp_path / "two.csv").write_text("a,b\n1,2\n3,5\n")
    for command in ("cluster", "compare"):
        result = run(command, "one.csv", "-c", "2")
        assert (result.code, result.out) == (1, "")
        assert "one.csv has 1 row to cluster; two are the least" in result.err
        result = run(command, "two.csv", "-c", "3")
        assert "-c 3 asks for more clusters than two.csv has rows (2)" in result.err
    assert "there is no file lost.credalis" in run("info", "lost.credalis").err


def test_strict_is_an_error_for_each(run, tmp_path):
    write_csv(tmp_path / "penguins.csv", penguins())
    command = ("cluster", "penguins.csv", "-c", "3", "-m", "ECM", "--strict")
    error = run(*command).error
    assert "columns of text: 'species', 'island', 'sex'" in error
    assert "--exclude species,island,sex" in error
    error = run(*command, "--exclude", "species,island,sex").error
    assert "missing values in 2 of 120 rows" in error


def test_names_with_blanks_can_be_pasted(run, tmp_path):
    (tmp_path / "t.csv").write_text("body mass,the kind\n1,a b\n2,c\n3,a b\n4,c\n")
    command = ("cluster", "t.csv", "-c", "2", "-m", "ECM")
    assert "--exclude 'the kind'" in run(*command, "--strict").error
    (tmp_path / "t.csv").write_text("row no,body mass\n1,4\n2,9\n3,4\n4,8\n")
    assert "(--id 'row no' keeps it in the output)" in run(*command).err
    assert "--columns 'body mass,sex'" in run("cluster", "--help").out


def test_decisions_are_in_the_json(run, tmp_path):
    write_csv(tmp_path / "airports.csv", airports())
    result = run("cluster", "airports.csv", "-c", "3", "-m", "ECM", "--json", "-q")
    decisions = json.loads(result.out)["decisions"]
    assert "'country' left out: one value everywhere" in decisions


def test_what_could_be_read_in_two_ways_is_said(run, tmp_path):
    rows = [f"{k},5;{k}.234,5;{1 + k}/{9 - k}/2024" for k in range(1, 7)] * 4
    Path("german.csv").write_text("\n".join(["rate;paid in;due", *rows]))
    result = run("cluster", "german.csv", "-c", "2")
    assert result.code == 0
    assert "- numbers are read with decimal commas (--decimal . says" in result.err
    assert (
        "- 'paid in' is read as numbers with decimal commas and points between "
        "thousands" in result.err
    )
    assert "- 'due' is not read as dates: nothing tells day and month" in result.err
    told = run("cluster", "german.csv", "-c", "2", "--decimal", ",")
    assert "numbers are read with decimal commas" not in told.err
