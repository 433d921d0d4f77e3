"""Who may talk to the server, and what it takes from strangers."""

import asyncio
import io
import json
import re
import socket
import time
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

import httpx

import credalis
from app.serving import NASTY, Served, animals

STATIC = Path(credalis.__file__).parent / "app" / "static"
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def files(served):
    """All files of the server."""
    return lambda: sorted(
        str(path.relative_to(served.folder))
        for path in served.folder.rglob("*")
        if path.is_file()
    )


class TestWhoMayTalk:
    def test_without_the_token_nothing_is_given(self, served):
        for path in ("/", "/static/main.js", "/api/state", "/api/events"):
            answer = httpx.get(served.base + path)
            assert answer.status_code == 403
            assert "token" in answer.text

    def test_a_wrong_token_is_refused(self, served):
        assert httpx.get(f"{served.base}/?token=guess").status_code == 403

    def test_the_token_works_once(self, served, client):
        answer = httpx.get(served.address)
        assert answer.status_code == 403
        assert "has been used" in answer.text
        # In the browser that has used it, the address still leads to the page.
        assert client.get(served.address).status_code == 303

    def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(self, tmp_path):
        served = Served(tmp_path)
        try:
            answer = httpx.get(served.address)
        finally:
            served.stop()
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert served.address.partition("token=")[2].lower() not in cookie

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1:1"])
    def test_another_host_is_refused(self, served, client, host):
        answer = client.get("/api/state", headers={"Host": host})
        assert answer.status_code == 403

    @pytest.mark.parametrize("origin", ["http://evil.example", "null"])
    def test_another_origin_is_refused(self, client, origin):
        for method, path in (("GET", "/api/state"), ("DELETE", "/api/session")):
            answer = client.request(method, path, headers={"Origin": origin})
            assert answer.status_code == 403

    def test_a_change_must_come_from_the_page(self, served, client):
        with httpx.Client(base_url=served.base, cookies=client.cookies) as other:
            assert other.delete("/api/session").status_code == 403
            assert other.get("/api/state").status_code == 200
            strange = {"Sec-Fetch-Site": "cross-site"}
            assert other.get("/api/state", headers=strange).status_code == 403

    def test_answers_have_the_headers_that_browsers_obey(self, client):
        for path in ("/", "/static/main.js", "/api/state", "/nowhere"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'self'")
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert "access-control-allow-origin" not in headers

    def test_the_server_listens_to_this_machine_alone(self, served):
        others = {
            each[4][0] for each in socket.getaddrinfo(socket.gethostname(), served.port)
        } - {"127.0.0.1", "::1"}
        for address in others:
            with socket.socket() as caller:
                caller.settimeout(2)
                if address.startswith("127."):
                    continue
                assert caller.connect_ex((address, served.port)) != 0


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["../up.csv", "a/b.csv", "..", "", "a\\b.csv", "a\0.csv", "x" * 300, "c:d.csv"],
    )
    def test_a_name_that_leads_elsewhere_is_refused(self, client, files, name):
        before = files()
        answer = client.put("/api/table", params={"name": name}, content=b"a,b\n1,2\n")
        assert answer.status_code == 400
        assert "name" in answer.json()["error"]
        assert files() == before

    @pytest.mark.parametrize("origin", ["", "http://elsewhere.example"])
    def test_a_refusal_is_heard_by_whoever_sends_the_table_late(
        self, served, client, origin
    ):
        """Closed with something unread, the connection would be reset."""
        cookie = "; ".join(f"{k}={v}" for k, v in client.cookies.items())
        head = (
            f"PUT /api/table?name=../up.csv HTTP/1.1\r\nHost: 127.0.0.1:{served.port}"
            f"\r\nOrigin: {origin or served.base}\r\nContent-Length: 8000\r\n"
            f"Cookie: {cookie}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", served.port)) as caller:
            caller.sendall(head.encode())
            for _ in range(2):
                time.sleep(0.1)
                caller.sendall(b"a" * 4000)
            answer = b""
            while part := caller.recv(2**16):
                answer += part
        assert answer.startswith(b"HTTP/1.1 40")
        assert answer.endswith((b"}", b"\n"))

    @pytest.mark.parametrize(
        "path",
        [
            "/static/..%2f__init__.py",
            "/static/../__init__.py",
            "/static/%2e%2e/_guard.py",
            "/api/runs/1/files/..%2f..%2fsession.json",
            "/api/runs/1/files/result.json",
        ],
    )
    def test_a_path_leads_to_no_other_file(self, client, path):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "import" not in answer.text

    @pytest.mark.parametrize(
        ("name", "stored"),
        [
            ("a table.csv", "a table.csv"),
            ("-x.csv", "table--x.csv"),
            ("labels.csv", "table-labels.csv"),
            (".hidden", "table-.hidden"),
        ],
    )
    def test_names_that_mean_something_are_changed(self, name, stored):
        from credalis.app._folder import checked_name

        assert checked_name(name) == stored


class TestUploads:
    def test_two_gigabytes_are_refused_unread(self, served, client, files):
        before = files()
        # What is announced is never sent, so that nothing can have been stored.
        head = (
            f"PUT /api/table?name=t.csv HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Origin: {served.base}\r\nContent-Length: {2**31}\r\nCookie: "
            + "; ".join(f"{k}={v}" for k, v in client.cookies.items())
            + "\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", served.port), 10) as caller:
            caller.sendall(head.encode())
            answer = caller.recv(2**16).decode()
            assert answer.startswith("HTTP/1.1 413")
        assert files() == before

    def test_what_is_longer_than_announced_is_cut_off(self, tmp_path):
        from credalis.app._folder import Folder
        from credalis.app._server import Page

        async def chunks():
            for _ in range(1000):
                yield b"1,2,3,4\n"

        async def upload():
            transport = httpx.ASGITransport(app=Page(folder, max_upload=1000).app())
            base = "http://127.0.0.1"
            async with httpx.AsyncClient(transport=transport, base_url=base) as visitor:
                return await visitor.put("/api/table?name=t.csv", content=chunks())

        folder = Folder(tmp_path)
        answer = asyncio.run(upload())
        folder.close()
        assert answer.status_code == 413
        assert "use credalis cluster" in answer.json()["error"]
        assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["lock"]

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("photo.csv", b"\x89PNG\r\n\x1a\n\0\0\0\0" * 30, "not a table of text"),
            ("t.pdf", b"%PDF-1.7 ...", "a PDF document"),
            ("t.parquet", b"a,b\n1,2\n", "not a parquet file"),
            ("t.csv", b"", "empty"),
        ],
    )
    def test_what_is_no_table_is_refused_in_words(
        self, client, files, name, content, words
    ):
        before = files()
        answer = client.put("/api/table", params={"name": name}, content=content)
        assert answer.status_code in (400, 422)
        assert words in answer.json()["error"]
        assert files() == before

    def test_a_workbook_that_is_a_bomb_is_refused(self, client, files):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", "<workbook/>")
            with archive.open(SHEET, "w", force_zip64=True) as member:
                for _ in range(64):
                    member.write(bytes(2**20))
        before = files()
        answer = client.put(
            "/api/table", params={"name": "t.xlsx"}, content=stream.getvalue()
        )
        assert answer.status_code == 422
        assert "unpack" in answer.json()["error"]
        assert files() == before

    def test_cells_and_names_are_given_as_they_are(self, client):
        answer = client.put(
            "/api/table", params={"name": "a.csv"}, content=animals().encode()
        )
        shown = answer.json()
        assert NASTY in [column["name"] for column in shown["columns"]]
        assert answer.headers["content-type"] == "application/json"


class TestWorkFromStrangers:
    def put(self, client, members):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return client.put("/api/work", content=stream.getvalue())

    def state(self, **changed):
        table = {"name": "t.csv", "size": 8, "usual": {"a": "counts"}}
        return json.dumps({"format": 1, "table": table, **changed})

    @pytest.mark.parametrize(
        "name", ["../x", "runs/1/../../x", "runs/1/evil.sh", "table/../x", "/etc/x"]
    )
    def test_members_with_other_names_are_refused(self, client, files, name):
        before = files()
        members = {"session.json": self.state(), name: "x", "table/t.csv": "a\n1\n"}
        answer = self.put(client, members)
        assert answer.status_code == 400
        assert "refused" in answer.json()["error"]
        assert files() == before

    @pytest.mark.parametrize(
        "changed",
        [
            {"format": 2},
            {"settings": {"scale": "; rm"}},
            {"settings": {"strange": 1}},
            {"answers": [{"kind": "pair", "a": 1, "b": 1, "answer": "same"}]},
            {"runs": [{"number": 1, "status": "strange"}]},
            {"table": {"name": "../t.csv", "size": 1, "usual": {}}},
            {"table": {"name": "labels.csv", "size": 1, "usual": {}}},
        ],
    )
    def test_a_state_that_makes_no_sense_is_refused(self, client, files, changed):
        before, version = files(), client.get("/api/state").json()["version"]
        members = {"session.json": self.state(**changed), "table/t.csv": "a\n1\n"}
        assert self.put(client, members).status_code == 400
        assert files() == before
        assert client.get("/api/state").json()["version"] == version

    def test_what_is_no_archive_is_refused(self, client, files):
        before = files()
        answer = client.put("/api/work", content=b"no archive at all")
        assert answer.status_code == 400
        assert files() == before


def test_no_script_of_the_page_reads_html_or_leaves_the_machine():
    scripts = sorted(STATIC.glob("*.js"))
    assert len(scripts) > 10
    for path in scripts:
        text = path.read_text("utf-8")
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|"
            r"new Function|createContextualFragment|DOMParser",
            text,
        )
        assert not found, f"{path.name}: {found}"
        outside = set(re.findall(r"https?://[^\"'` )]+", text))
        assert outside <= {"http://www.w3.org/2000/svg"}, path.name
