"""The clients are those that the declared operations make."""

from scripts import clients


def test_the_generated_modules_are_current():
    stale = [path.name for path, text in clients.files().items() if path.read_text() != text]
    assert stale == [], "run: .venv/bin/python -m scripts.clients"
