"""What it takes to build the package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import hatch_build
from scripts import build

ROOT = Path(__file__).parents[2]
REQUIREMENTS = """
from hatchling.build import get_requires_for_build_wheel as wheel
print(*wheel(), sep="\\n")
"""


def test_a_source_distribution_is_built_without_other_packages(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(
        ROOT, checkout, ignore=shutil.ignore_patterns(".*", "tests", "__pycache__", "vendor")
    )
    assert _requirements(checkout) == ["django-htmx==1.29.0", "plain-htmx==0.10.0"]

    _run(checkout, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path))
    (archive,) = tmp_path.glob("tickwell-*.tar.gz")
    assert build.missing_in_sdist(archive) == []
    # Debian's Python 3.11.2 knows no filter for `extractall`, and 3.12 asks for one.
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)

    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    assert _requirements(unpacked) == []
    assert hatch_build.RELATIVE.findall((unpacked / "PKG-INFO").read_text("utf-8")) == []


def test_what_run_installs_serves_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    (every,) = extras.pop("all")
    assert set(re.findall(r"[\w-]+", every)) == {"tickwell", *extras}
    pins = (ROOT / "constraints/run.txt").read_text("utf-8")
    for needs in (project["dependencies"], *extras.values()):
        for name in (re.split(r"[^\w.-]", need)[0] for need in needs):
            assert re.search(rf"^{name}==", pins, re.MULTILINE), name


def test_links_of_the_readme_lead_to_the_files_of_its_version() -> None:
    text = "![A](docs/a.png) [B](docs/b.md#c) [D](https://d.example/) [E](#e)"
    released = hatch_build.absolute_links(text, "https://forge.example/x", "1.2.3")
    assert released == (
        "![A](https://forge.example/x/raw/v1.2.3/docs/a.png)"
        " [B](https://forge.example/x/blob/v1.2.3/docs/b.md#c)"
        " [D](https://d.example/) [E](#e)"
    )
    developed = hatch_build.absolute_links("[B](b.md)", "https://forge.example/x", "1.3.0.dev0")
    assert developed == "[B](https://forge.example/x/blob/main/b.md)"


def test_a_file_that_a_wheel_lacks_is_named(tmp_path: Path) -> None:
    wheel, left_out = tmp_path / "tickwell.whl", "tickwell/ui/static/icon.svg"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in build.package_files():
            if name != left_out:
                archive.writestr(name, b"")
    assert build.missing_in_wheel(wheel) == [left_out]


def _requirements(folder: Path) -> list[str]:
    """What a build in the folder needs beside hatchling."""
    return _run(folder, "-c", REQUIREMENTS).split()


def _run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout
