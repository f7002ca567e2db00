"""Copies the dashboard's JavaScript out of pinned packages, so that this repository keeps none.

A source distribution contains the files, so building from one needs neither package. The links of
the README become absolute, for those who read it on a package's page.
"""

from __future__ import annotations

import hashlib
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FOLDER = Path("src/tickwell/ui/static/vendor")


class Script(NamedTuple):
    """A JavaScript file in a Python package."""

    package: str
    version: str
    path: str
    sha256: str


#: By the name of our copy.
SCRIPTS = {
    "htmx.js": Script(
        "django-htmx",
        "1.29.0",
        "django_htmx/static/django_htmx/htmx-2.min.js",
        "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de",
    ),
    "idiomorph.js": Script(
        "plain-htmx",
        "0.10.0",
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


#: A link or a picture of Markdown whose target is a file of the repository.
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")


def absolute_links(text: str, source: str, version: str) -> str:
    """The README with links to the files of this version, or of main before its release."""
    at = "main" if "dev" in version else f"v{version}"

    def absolute(match: re.Match[str]) -> str:
        mark, label, target = match.groups()
        # A picture is wanted itself, not the page that shows it.
        return f"{mark}[{label}]({source}/{'raw' if mark else 'blob'}/{at}/{target})"

    return RELATIVE.sub(absolute, text)


class AbsoluteLinks(MetadataHookInterface):
    """Runs whenever the metadata of the package is made."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        text = absolute_links(text, metadata["urls"]["Source"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class CopyScripts(BuildHookInterface[Any]):
    """Runs before a wheel, an sdist or an editable install is built."""

    def dependencies(self) -> list[str]:
        """Packages to install before a build: none where the files exist already."""
        return [
            f"{script.package}=={script.version}"
            for name, script in SCRIPTS.items()
            if not _is_intact(Path(self.root) / FOLDER / name, script)
        ]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy and check each missing file; one that is not as pinned stops the build."""
        folder = Path(self.root) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for name, script in SCRIPTS.items():
            if not _is_intact(folder / name, script):
                (folder / name).write_bytes(_content(script))
        (folder / "NOTICES.txt").write_text(NOTICES)
        build_data["artifacts"].append(f"/{FOLDER}")


def _is_intact(file: Path, script: Script) -> bool:
    return file.is_file() and _digest(file.read_bytes()) == script.sha256


def _content(script: Script) -> bytes:
    try:
        content = Path(str(distribution(script.package).locate_file(script.path))).read_bytes()
    except (PackageNotFoundError, FileNotFoundError) as error:
        raise RuntimeError(
            f"The build needs {script.path} of {script.package} {script.version}: {error}. "
            f"Install that package, or build without --no-build-isolation"
        ) from error
    if (found := _digest(content)) != script.sha256:
        raise RuntimeError(
            f"{script.path} of {script.package} has the SHA-256 {found}, not {script.sha256}. "
            f"Install version {script.version}, or pin the new file in hatch_build.py"
        )
    return content


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
