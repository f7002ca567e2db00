"""Writes a version into the files that name it, for scripts/release.

`python -m scripts.release_files 1.2.3 2027-01-31`; `--notes 1.2.3` prints what the changelog says
about a version.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Final versions and release candidates.
VERSION = re.compile(r"\d+\.\d+\.\d+(rc\d+)?")
UNRELEASED = "## Unreleased\n"


def release_changelog(text: str, version: str, date: str) -> str:
    """The changelog with its top section under the version, and an empty one above it."""
    before, mark, after = text.partition(UNRELEASED)
    notes = after.partition("\n## ")[0]
    if not mark or not notes.strip():
        raise SystemExit("CHANGELOG.md: nothing under Unreleased. Write what users notice.")
    return f"{before}{UNRELEASED}\n## {version} ({date})\n{after}"


def notes_of(text: str, version: str) -> str:
    """What the changelog says about a version."""
    _, _, after = text.partition(f"\n## {version} (")
    return after.partition("\n")[2].partition("\n## ")[0].strip()


def set_version(text: str, version: str) -> str:
    """pyproject.toml with this version."""
    return _replaced(text, r'^version = ".+"$', f'version = "{version}"')


def set_chart(text: str, version: str) -> str:
    """Chart.yaml with this version, whose own form of a candidate has a hyphen."""
    chart = version.replace("rc", "-rc.")
    text = _replaced(text, r"^version: .+$", f"version: {chart}")
    return _replaced(text, r"^appVersion: .+$", f"appVersion: {version}")


def _replaced(text: str, pattern: str, line: str) -> str:
    text, count = re.subn(pattern, line, text, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"{pattern} is in {count} lines, not in one. Mend the file first.")
    return text


def main() -> int:
    """Write all of them, or print the notes."""
    if sys.argv[1] == "--notes":
        print(notes_of((ROOT / "CHANGELOG.md").read_text("utf-8"), sys.argv[2]))
        return 0
    version, date = sys.argv[1:]
    if not VERSION.fullmatch(version):
        raise SystemExit(f"{version} is not a version. Use 1.2.3, or 1.2.3rc1 for a candidate.")
    project, log = ROOT / "pyproject.toml", ROOT / "CHANGELOG.md"
    chart = ROOT / "deploy" / "helm" / "tickwell" / "Chart.yaml"
    # All are made before one is written: a file that cannot be changed leaves the others alone.
    texts = {
        project: set_version(project.read_text("utf-8"), version),
        chart: set_chart(chart.read_text("utf-8"), version),
        log: release_changelog(log.read_text("utf-8"), version, date),
    }
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
