from credalis import exceptions


def test_every_public_name_exists():
    assert all(hasattr(exceptions, name) for name in exceptions.__all__)
