"""One server for the tests of a file."""

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from app.serving import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    served = Served(tmp_path_factory.mktemp("work"))
    yield served
    served.stop()


@pytest.fixture(scope="module")
def client(served):
    with served.client() as client:
        yield client
