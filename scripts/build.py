"""Builds the wheel and the source distribution, and tries them: `python -m scripts.build FOLDER`.

What is tried: `twine check`, every file of the package inside, each extra installed into a fresh
environment with nothing pinned, and `tickwell demo` from one. `--built` tries what the folder has
already; `--no-extras` installs the package alone.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tickwell"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
#: The extra that brings what `tickwell demo` needs.
DEMO = "server"
#: Seconds until the demo has filled its store and answers.
PATIENCE = 120


def main() -> int:
    """Build, try, and print what each extra adds."""
    parser = argparse.ArgumentParser(prog="./run build")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--built", action="store_true", help="try what is there")
    parser.add_argument("--no-extras", action="store_true", help="install the package alone")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not options.built:
        build(folder)
    [wheel], [source] = folder.glob("tickwell-*.whl"), folder.glob("tickwell-*.tar.gz")
    for name, missing in (("wheel", missing_in_wheel(wheel)), ("sdist", missing_in_sdist(source))):
        if missing:
            raise SystemExit(f"build: the {name} lacks {', '.join(missing)}. See hatch_build.py")
    with tempfile.TemporaryDirectory(prefix="tickwell-build-") as scratch:
        twine = Environment(Path(scratch) / "twine")
        twine.install("twine")
        twine.run("-m", "twine", "check", "--strict", str(wheel), str(source))
        try_extras(wheel, Path(scratch), () if options.no_extras else extras())
    return 0


def build(folder: Path) -> None:
    """Both files; what an earlier build left is removed first."""
    for old in (*folder.glob("tickwell-*.whl"), *folder.glob("tickwell-*.tar.gz")):
        old.unlink()
    say("building")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def package_files() -> list[str]:
    """Every file that the package consists of: modules, statements, templates, scripts, assets."""
    found = (path for path in PACKAGE.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(ROOT / "src")) for path in found if path.suffix != ".pyc")


def missing_in_wheel(wheel: Path) -> list[str]:
    """Files of the package that it lacks."""
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    return [name for name in package_files() if name not in inside]


def missing_in_sdist(source: Path) -> list[str]:
    """The same, and what a build from it needs."""
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    needed = ["pyproject.toml", "hatch_build.py", "README.md", "LICENSE"]
    return [
        name
        for name in (*needed, *(f"src/{each}" for each in package_files()))
        if name not in inside
    ]


def extras() -> list[str]:
    """The names of all extras."""
    return list(PROJECT["optional-dependencies"])


@dataclass(frozen=True)
class Environment:
    """A virtual environment of its own, which knows nothing of the checkout."""

    folder: Path

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", "venv", "--without-pip", str(self.folder)]
        subprocess.run(command, check=True)

    def install(self, requirement: str) -> None:
        """Newest of everything: what a user gets who pins nothing."""
        # With the pip of .venv, so that its size is no part of what is measured.
        pip = [sys.executable, "-m", "pip", "--python", str(self.folder / "bin" / "python")]
        quiet = ["--quiet", "--disable-pip-version-check", "--no-compile"]
        subprocess.run([*pip, "install", *quiet, requirement], cwd=self.folder, check=True)

    def run(self, *arguments: str) -> str:
        """What its interpreter prints."""
        command = [str(self.folder / "bin" / "python"), *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=_alone(), check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def size(self) -> tuple[float, int]:
        """Megabytes of what is installed, and how many packages that are."""
        [packages] = self.folder.glob("lib/python*/site-packages")
        files = (path.stat().st_size for path in packages.rglob("*") if path.is_file())
        return sum(files) / 1e6, len(list(packages.glob("*.dist-info")))


def _alone() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}


def try_extras(wheel: Path, scratch: Path, names: Iterable[str]) -> None:
    """Install the package alone, then each extra; print a line of a table for each."""
    version = ""
    base = 0.0
    print("| extra | MB | packages |\n|---|---|---|")
    for name in ("", *names):
        environment = Environment(scratch / (name or "alone"))
        environment.install(f"{wheel}[{name}]" if name else str(wheel))
        version = environment.run("-m", "tickwell", "--version").strip()
        if version not in wheel.name:
            raise SystemExit(f"build: {wheel.name} says that it is {version}")
        size, packages = environment.size()
        base = base or size
        shown = f"+{size - base:.0f}" if name else f"{size:.0f}"
        print(f"| {f'`{name}`' if name else '(none)'} | {shown} | {packages} |", flush=True)
        if name == DEMO:
            try_demo(environment)


def try_demo(environment: Environment) -> None:
    """Start it on any free port, and ask it for its health and its first page."""
    command = [str(environment.folder / "bin" / "tickwell"), "demo", "--port", "0"]
    with subprocess.Popen(
        command, cwd=environment.folder, env=_alone(), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            address = _address(process)
            for path in ("/health", "/"):
                ask(f"{address}{path}")
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
    say(f"the demo answered at {address}, and ended with {process.returncode}")


def ask(url: str) -> None:
    """Fail unless it answers that all is well."""
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310 - our own server
        answer.read()


def _address(process: "subprocess.Popen[str]") -> str:
    lines: list[str] = []
    deadline = time.monotonic() + PATIENCE
    for line in process.stderr or ():
        lines.append(line)
        found = [word for word in line.split() if word.startswith("http://127.0.0.1:")]
        if found:
            return found[0].rstrip(".,/")
        if time.monotonic() > deadline:
            break
    raise SystemExit(f"build: the demo did not start: {''.join(lines)}")


def say(text: str) -> None:
    """A line for people."""
    print(f"build: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
