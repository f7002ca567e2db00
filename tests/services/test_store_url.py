import pytest

from tickwell.services.redaction.store_address import without_password


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///tickwell.db", "sqlite:///tickwell.db"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("postgresql://ann:hush@host:5432/db", "postgresql://ann:PASSWORD@host:5432/db"),
        ("postgresql://ann:hu@sh@a,b/db?ssl=1", "postgresql://ann:PASSWORD@a,b/db?ssl=1"),
        ("mysql://host/db?password=hush&ssl=1", "mysql://host/db?password=PASSWORD&ssl=1"),
        ("redis://:hush@host/0", "redis://:PASSWORD@host/0"),
        ("mongodb://host", "mongodb://host"),
    ],
)
def test_all_but_the_password_is_shown(url, shown):
    assert without_password(url) == shown
