"""Writes the plain manifests in deploy/kubernetes from the chart in deploy/helm/tickwell.

`python -m scripts.manifests` brings them up to date; `--check` only says whether they are.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CHART = ROOT / "deploy" / "helm" / "tickwell"
FOLDER = ROOT / "deploy" / "kubernetes"
#: In a wheel, for tests: next to the interpreter.
HELM = Path(sys.executable).parent / "helm"
HEADER = """\
# From the chart in deploy/helm/tickwell, by `python -m scripts.manifests`: edit the chart instead.
# Before it is applied, the namespace and the secret must exist; see docs/deployment.md#kubernetes.
"""
#: By file: the options of `helm template`.
FILES = {
    "tickwell.yaml": (),
    "autoscaling.yaml": (
        "--set=autoscaling.enabled=true",
        "--show-only=templates/autoscaling.yaml",
    ),
}


def render(*options: str) -> str:
    """What the chart becomes with these options."""
    command = [str(HELM), "template", "tickwell", str(CHART), "--namespace=tickwell", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


def main() -> int:
    """Write the files, or check them; 1 when one is out of date."""
    stale = 0
    for name, options in FILES.items():
        text = HEADER + render(*options)
        if "--check" in sys.argv[1:]:
            stale += (FOLDER / name).read_text("utf-8") != text
        else:
            (FOLDER / name).write_text(text, "utf-8")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
