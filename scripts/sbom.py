"""Prints the software bill of materials, as CycloneDX: `python -m scripts.sbom 1.2.3`.

It lists what the image contains besides Debian and Python: every package of constraints/run.txt
except those that only build Tickwell. That file has the hashes.
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)


def build_only() -> set[str]:
    """Packages that build Tickwell and are not shipped; hatchling alone needs the last one."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    return {re.split("[<>=]", each)[0] for each in groups["build"]} | {"trove-classifiers"}


def components(pins: str) -> list[dict[str, Any]]:
    """One component per pin, in the order of the file."""
    left_out = build_only()
    return [
        {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
        }
        for name, version in PIN.findall(pins)
        if name not in left_out
    ]


def document(version: str) -> dict[str, Any]:
    """Without serial number and time: the same release has the same file."""
    purl = f"pkg:pypi/tickwell@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": "tickwell",
                "version": version,
                "purl": purl,
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": components((ROOT / "constraints" / "run.txt").read_text("utf-8")),
    }


def main() -> int:
    """Print it."""
    print(json.dumps(document(sys.argv[1]), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
