"""Builds the site: `./run docs [FOLDER]`, by default into dist/site.

The pages are those of docs/, as they are; references of the library and of the REST API are added.
A link that leads nowhere is an error. Nothing in the site is loaded from elsewhere, and it can be
read and searched from files, without a server.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.site.library import library_pages
from scripts.site.rest import description, rest_page
from scripts.site.source import ROOT, staged

ASSETS = Path(__file__).parent / "assets"


def main() -> int:
    """Write the pages into a scratch folder, and let mkdocs make the site of them."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist" / "site").resolve()
    with tempfile.TemporaryDirectory(prefix="tickwell-site-") as scratch:
        write_source(Path(scratch) / "docs")
        shutil.copy(ROOT / "mkdocs.yml", scratch)
        mkdocs = [str(ROOT / ".venv/site/bin/python"), "-m", "mkdocs", "build", "--strict"]
        # Its advice on other programs is off. Quiet it would not count warnings as errors.
        environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(
            [*mkdocs, "--site-dir", str(site)],
            cwd=scratch,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    else:
        print(f"{site}/index.html")
    return done.returncode


def write_source(folder: Path) -> None:
    """All that mkdocs reads."""
    shutil.copytree(ROOT / "docs" / "images", folder / "images")
    shutil.copytree(ASSETS, folder / "assets")
    document = description()
    for name, text in (
        *staged().items(),
        *library_pages().items(),
        ("reference/rest.md", rest_page(document)),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
