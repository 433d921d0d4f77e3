"""The journey as the browser asks for it: the same bits as the command line."""

import csv
import io
import json
import subprocess
import sys
import time
import zipfile

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from app.serving import Served, animals, finished, is_alive, wait_for
from app.shapes import check_shape


@pytest.fixture(scope="module")
def result(client):
    """The animals, clustered, answered about, and clustered again."""
    answer = client.put(
        "/api/table", params={"name": "animals.csv"}, content=animals().encode()
    )
    assert answer.status_code == 200, answer.text
    client.patch(
        "/api/settings", json={"n_clusters": 3, "roles": {"code": "id"}}
    ).raise_for_status()
    run(client)
    questions = client.get("/api/runs/1/questions").json()["pairs"]
    assert questions
    for number, question in enumerate(questions[:3]):
        answer = client.post(
            "/api/answers",
            json={
                "kind": "pair",
                "a": question["a"]["row"],
                "b": question["b"]["row"],
                # The kinds take turns in the rows.
                "answer": "same"
                if (question["a"]["row"] - question["b"]["row"]) % 3 == 0
                else "different",
            },
        )
        assert len(answer.json()["answers"]) == number + 1
    return run(client)


def run(client):
    answer = client.post("/api/runs")
    assert answer.status_code == 202, answer.text
    state = finished(client)
    last = state["runs"][-1]
    assert last["status"] == "done", last
    return last


def test_the_page_knows_the_shape_of_what_the_server_says(client, result):
    def get(path):
        return client.get(f"/api/{path}").json()

    state, base = get("state"), f"runs/{result['number']}"
    check_shape(state, "State")
    check_shape(state["settings"], "Settings")
    last = dict(state["runs"][-1])
    assert last.pop("status") == "done"
    check_shape(last, "AnyRun", "Notes")
    preview, methods = get("preview"), get("methods")
    check_shape(preview, "Preview")
    check_shape(preview["columns"][0], "Column")
    check_shape(methods, "Methods")
    check_shape(methods["methods"][0], "Method")
    check_shape(get("peaks"), "Peaks")
    shown = get(f"{base}/files/result.json")
    check_shape(shown, "ResultFile")
    check_shape(shown["clusters"][0], "Card")
    check_shape(shown["between"], "Listed")
    check_shape(shown["shepard"], "Shepard")
    check_shape(shown["changes"], "Changes")
    found = get(f"{base}/objects/5")
    check_shape(found, "Found")
    check_shape(found["near"][0], "Near")
    check_shape(get(f"{base}/questions")["pairs"][0], "Question")


def test_a_preview_says_what_columns_hold_and_what_was_decided(client, result):
    shown = client.get("/api/preview").json()
    roles = {column["name"]: column["role"] for column in shown["columns"]}
    assert roles["x0"] == "out"
    assert roles["code"] == "id"
    assert roles["beak"] == roles["sex"] == "counts"
    missing = {column["name"]: column["n_missing"] for column in shown["columns"]}
    assert missing["beak"] > 0
    assert any("Gower" in line for line in shown["decisions"])
    assert len(shown["rows"][0]) == len(shown["columns"])


def test_the_shown_command_gives_the_same_bits(client, result, tmp_path):
    archive = client.get(f"/api/runs/{result['number']}/archive").content
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(tmp_path)
    before = (tmp_path / "memberships.csv").read_bytes()
    (tmp_path / "memberships.csv").unlink()
    words = result["command"]
    assert words.startswith("credalis cluster animals.csv")
    assert "--cannot-link" in words or "--must-link" in words
    command = f"{sys.executable} -m {words}"
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "memberships.csv").read_bytes() == before


def test_the_shown_code_gives_the_same_masses(client, result, tmp_path):
    base = f"/api/runs/{result['number']}/files"
    code = client.get(f"{base}/reproduce.py").text
    (tmp_path / "animals.csv").write_text(animals())
    (tmp_path / "reproduce.py").write_text(
        code + "import json\njson.dump(partition.masses.tolist(), open('m', 'w'))\n"
    )
    subprocess.run(
        [sys.executable, "reproduce.py"], cwd=tmp_path, check=True, capture_output=True
    )
    masses = json.loads((tmp_path / "m").read_text())
    text = client.get(f"{base}/memberships.csv").text
    rows = list(csv.reader(io.StringIO(text)))
    places = [j for j, name in enumerate(rows[0]) if name.startswith("m ")]
    assert [[float(row[j]) for j in places] for row in rows[1:]] == masses


def test_a_result_has_what_the_page_shows(client, result):
    base = f"/api/runs/{result['number']}/files"
    shown = client.get(f"{base}/result.json").json()
    assert shown["n_clusters"] == 3
    assert shown["n_objects"] == 90
    assert shown["changes"]["n_rows"] == 90
    assert len(shown["clusters"]) == 3
    assert shown["shepard"]["targets"]
    for name in ("rows", "labels", "second", "kinds", "doubt", "sets", "axis-0"):
        assert len(client.get(f"{base}/{name}.bin").content) == 4 * 90
    assert len(client.get(f"{base}/names.json").json()["names"]) == 90
    found = client.get(f"/api/runs/{result['number']}/objects/5").json()
    assert found["name"] == "A005"
    assert abs(sum(each["mass"] for each in found["masses"]) - 1) < 0.05
    assert {cell["column"] for cell in found["cells"]} >= {"beak", "sex"}
    near = found["near"]
    assert [each["plausibility"] for each in near] == sorted(
        (each["plausibility"] for each in near), reverse=True
    )
    assert near[0]["for"]
    assert {"column", "value", "typical"} == near[0]["for"][0].keys()
    assert client.get(f"/api/runs/{result['number']}/objects/90").status_code == 422
    tree = client.get(f"/api/runs/{result['number']}/tree").json()
    assert tree["lines"]
    assert tree["caption"]
    report = client.get(f"{base}/report.html", params={"view": ""})
    assert "sandbox" in report.headers["content-security-policy"]
    assert b"animals.csv" in report.content


def test_an_answer_that_contradicts_others_is_refused(client, result):
    before = client.get("/api/state").json()["answers"]
    for a, b in ((20, 21), (21, 22)):
        pair = {"kind": "pair", "a": a, "b": b, "answer": "same"}
        assert client.post("/api/answers", json=pair).status_code == 200
    pair = {"kind": "pair", "a": 20, "b": 22, "answer": "different"}
    answer = client.post("/api/answers", json=pair)
    assert answer.status_code == 400
    assert "contradicts" in answer.json()["error"]
    for _ in range(2):
        client.delete("/api/answers/last")
    assert client.get("/api/state").json()["answers"] == before


def test_the_last_name_of_a_row_counts_and_answers_can_be_taken_back(client, result):
    before = client.get("/api/state").json()["answers"]
    for name, rows in (("small", [0, 3, 6]), ("tiny", [3])):
        group = {"kind": "group", "name": name, "rows": rows}
        answers = client.post("/api/answers", json=group).json()["answers"]
    groups = {each["name"]: each for each in answers if each["kind"] == "group"}
    assert groups["small"]["rows"] == [0, 6]
    for each in groups.values():
        client.delete(f"/api/answers/{each['id']}")
    assert client.get("/api/state").json()["answers"] == before


def test_what_the_library_refuses_is_said_in_its_words(client, result):
    client.patch("/api/settings", json={"n_clusters": 80, "method": "ECM"})
    client.post("/api/runs")
    last = finished(client)["runs"][-1]
    assert last["status"] == "failed"
    assert "ECM cannot use" in last["error"]
    client.patch("/api/settings", json={"n_clusters": 3, "method": None})


@pytest.mark.slow
def test_a_saved_work_can_be_opened_elsewhere(client, result, tmp_path):
    work = client.get("/api/work").content
    before = client.get("/api/state").json()
    served = Served(tmp_path)
    try:
        with served.client() as other:
            assert other.put("/api/work", content=work).status_code == 200
            after = other.get("/api/state").json()
            for name in ("table", "settings", "answers"):
                assert after[name] == before[name]
            found = other.get(f"/api/runs/{result['number']}/objects/5").json()
            assert found["name"] == "A005"
    finally:
        served.stop()


def test_work_outlives_a_server_that_is_killed(tmp_path):
    served = Served(tmp_path)
    with served.client() as client:
        client.post("/api/demo").raise_for_status()
        client.patch("/api/settings", json={"n_clusters": 3, "method": "ECM"})
        run(client)
        # One that lasts: it is at work when the server is killed.
        client.patch(
            "/api/settings",
            json={"method": "NNEVCLUS", "parameters": ["n_init=5000"]},
        )
        client.post("/api/runs")
        wait_for(lambda: client.get("/api/state").json()["job"])
        time.sleep(0.3)
        children = served.children()
        assert len(children) == 2
    served.kill()
    wait_for(lambda: not any(map(is_alive, children)), 5)
    again = Served(tmp_path)
    try:
        with again.client() as client:
            state = client.get("/api/state").json()
            assert state["is_reopened"]
            assert [run["status"] for run in state["runs"]] == ["done", "interrupted"]
            assert client.get("/api/runs/1/files/result.json").status_code == 200
            assert client.get("/api/runs/2/files/result.json").status_code == 404
    finally:
        again.stop()


def test_a_fit_is_cancelled_within_a_second_and_leaves_nothing(served, client, result):
    settings = {"method": "NNEVCLUS", "parameters": ["n_init=5000"]}
    client.patch("/api/settings", json=settings)
    number = client.post("/api/runs").json()["number"]

    def at_work():
        job = client.get("/api/state").json()["job"]
        return job and job["event"].get("iteration")

    wait_for(at_work)
    job = client.get("/api/state").json()["job"]
    check_shape(job, "Job")
    check_shape(job["event"], "Progress")
    assert client.post("/api/runs").status_code == 409
    before = set(served.children())
    start = time.monotonic()
    assert client.delete("/api/job").json() == {"cancelled": True}
    assert time.monotonic() - start < 1
    state = client.get("/api/state").json()
    assert state["job"] is None
    assert state["runs"][-1]["status"] == "cancelled"
    # The one that was at work is gone; another one waits for work.
    assert len(before - set(served.children())) == 1
    assert not (served.folder / "1" / "runs" / str(number)).exists()
    client.patch("/api/settings", json={"method": None, "parameters": []})


def test_a_result_of_another_table_with_the_same_number_is_another_one(tmp_path):
    served = Served(tmp_path)
    try:
        with served.client() as client:
            found = []
            for seed in (1, 2):
                table = animals(30 + seed, seed).encode()
                client.put("/api/table", params={"name": "t.csv"}, content=table)
                settings = {"n_clusters": 2, "method": "ECM"}
                client.patch("/api/settings", json=settings).raise_for_status()
                assert run(client)["number"] == 1
                found.append(client.get("/api/runs/1/objects/30").json())
            assert found[0] != found[1]
    finally:
        served.stop()


def test_two_servers_do_not_share_a_folder(served, client, result):
    other = Served(served.folder)
    try:
        with other.client() as second:
            assert second.get("/api/state").json()["table"] is None
    finally:
        other.stop()


def test_a_table_can_be_named_and_is_left_alone(tmp_path):
    table = tmp_path / "animals.csv"
    table.write_text(animals())
    served = Served(tmp_path / "work", table)
    try:
        with served.client() as client:
            assert client.get("/api/state").json()["table"]["name"] == "animals.csv"
            client.delete("/api/session").raise_for_status()
            assert client.get("/api/state").json()["table"] is None
            left = [p.name for p in (tmp_path / "work").rglob("*") if p.is_file()]
            assert sorted(left) == ["lock", "session.json"]
    finally:
        served.stop()
    assert table.read_text() == animals()
