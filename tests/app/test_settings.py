"""Choices of the page as words of the command line, and their checks."""

import json

import pytest

pytest.importorskip("click")

from credalis.app._begin import options_of, parsed
from credalis.app._session import _check_agreement, _checked_answer
from credalis.app._settings import Settings, method_words, output_words, table_words

USUAL = {"id": "out", "a": "counts", "b, c": "counts", "note": "out"}


def words(**chosen):
    settings = Settings().changed(chosen)
    return table_words(settings, "t.csv", USUAL)[1:]


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ({}, []),
        ({"id": "id"}, ["--id", "id"]),
        ({"a": "out"}, ["--exclude", "a"]),
        ({"b, c": "describes"}, ["--describe", "b, c"]),
        ({"note": "describes"}, ["--describe", "note"]),
        # What would be left out counts: then all that count are named.
        (
            {"note": "counts", "a": "out"},
            ["--columns", "b, c", "--columns", "note"],
        ),
        ({"of another table": "out"}, []),
    ],
)
def test_roles_become_options(roles, expected):
    assert words(roles=roles) == expected


def test_all_words_are_understood_by_the_command():
    settings = Settings().changed(
        {
            "roles": {"id": "id", "a": "out"},
            "scale": "robust",
            "missing": "drop",
            "sheet": "-1",
            "delimiter": ";",
            "decimal": ",",
            "n_clusters": 3,
            "method": "NNEVCLUS",
            "parameters": ["n_init=2", "-x=1"],
            "outlier_rate": 0.05,
            "clear_level": 0.9,
            "seed": 7,
        }
    )
    said = [*table_words(settings, "t.csv", USUAL), *method_words(settings)]
    table, options = options_of(parsed([*said, *output_words()]))
    assert table == "t.csv"
    assert options["n_clusters"] == 3
    assert options["method"] == "NNEVCLUS"
    assert options["parameters"] == ("n_init=2", "-x=1")
    assert options["sheet"] == "-1"
    assert options["id_column"] == "id"
    assert options["exclude"] == ("a",)
    assert (options["outlier_rate"], options["clear_level"]) == (0.05, 0.9)
    assert options["seed"] == 7
    assert options["report"] == "report.html"


def test_without_a_number_it_is_to_be_found():
    assert method_words(Settings())[:2] == ["-c", "auto"]
    assert "-c" not in method_words(Settings(), finds_number=True)


def test_settings_come_back_from_json():
    chosen = {"centers": [3, 5], "roles": {"a": "out"}, "parameters": ["x=1"]}
    settings = Settings().changed(chosen)
    again = Settings().changed(json.loads(json.dumps(settings.to_dict())))
    assert again == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clusters", 1),
        ("n_clusters", "3"),
        ("n_clusters", True),
        ("quantile", float("nan")),
        ("centers", [-1]),
        ("centers", "12"),
        ("scale", "huge"),
        ("roles", {"a": "king"}),
        ("roles", {"a": "id", "b": "id"}),
        ("parameters", ["x" * 2000]),
        ("method", 3),
        ("seed", -1),
        ("uses_centers", 1),
        ("strange", 1),
    ],
)
def test_a_wrong_choice_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name if name != "roles" else "roles|column"):
        Settings().changed({name: value})


@pytest.mark.parametrize(
    "answer",
    [
        {"kind": "pair", "a": 1, "b": 1, "answer": "same"},
        {"kind": "pair", "a": 1, "b": 2, "answer": "perhaps"},
        {"kind": "pair", "a": -1, "b": 2, "answer": "same"},
        {"kind": "group", "name": " ", "rows": [1]},
        {"kind": "group", "name": "x", "rows": []},
        {"kind": "group", "name": "-1", "rows": [1]},
        {"kind": "other"},
        [],
    ],
)
def test_a_wrong_answer_is_refused(answer):
    with pytest.raises(ValueError, match=r"pair|answer|group|kind"):
        _checked_answer(answer)


def test_answers_agree_through_others():
    def pairs(*given):
        return [
            {"kind": "pair", "a": a, "b": b, "answer": answer} for a, b, answer in given
        ]

    chain = [(1, 2, "same"), (2, 3, "same"), (4, 5, "same"), (1, 4, "different")]
    _check_agreement(pairs(*chain, (3, 5, "different"), (3, 4, "unknown")))
    with pytest.raises(ValueError, match="contradicts"):
        _check_agreement(pairs(*chain, (3, 1, "different")))
    with pytest.raises(ValueError, match="contradicts"):
        _check_agreement(pairs(*chain, (3, 5, "same")))
