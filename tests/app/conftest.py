"""One server for the tests of a file."""

import pytest


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    from app.serving import Served

    served = Served(tmp_path_factory.mktemp("work"))
    yield served
    served.stop()


@pytest.fixture(scope="module")
def client(served):
    with served.client() as client:
        yield client
