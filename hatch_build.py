"""Copies the dashboard's JavaScript out of pinned packages, so that none is kept in this repo."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/tickwell/ui/static/vendor")

#: Our name: the package, its file, and what the file must be.
FILES = {
    "htmx.js": (
        "django-htmx",
        "django_htmx/static/django_htmx/htmx-2.min.js",
        "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de",
    ),
    "idiomorph.js": (
        "plain-htmx",
        "plain/htmx/assets/htmx/vendor/idiomorph/idiomorph-ext.min.js",
        "031dd86c3f7ed80f876bff35c08e44e0d2c71ce8c0bcd270e06bc3a1c8368beb",
    ),
}

NOTICES = """The files in this folder are not Tickwell's.
htmx.js: htmx, Zero-Clause BSD, Big Sky Software.
idiomorph.js: idiomorph, Zero-Clause BSD, Big Sky Software.
Permission to use, copy, modify, and/or distribute them for any purpose with or without fee is
granted by their authors, without warranty of any kind.
"""


class CopyScripts(BuildHookInterface[Any]):
    """Runs before a wheel, an sdist or an editable install is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy and check every file; a missing or changed one stops the build."""
        folder = Path(self.root) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for name, (package, path, digest) in FILES.items():
            content = _content(package, path)
            found = hashlib.sha256(content).hexdigest()
            if found != digest:
                raise RuntimeError(f"{path} of {package} has changed: {found}, not {digest}")
            (folder / name).write_bytes(content)
        (folder / "NOTICES.txt").write_text(NOTICES)
        build_data["artifacts"].append(f"/{FOLDER}")


def _content(package: str, path: str) -> bytes:
    try:
        return Path(str(distribution(package).locate_file(path))).read_bytes()
    except (PackageNotFoundError, FileNotFoundError) as error:
        raise RuntimeError(f"{path} of {package} is needed to build: {error}") from error
