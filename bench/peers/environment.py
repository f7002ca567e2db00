"""The environment that peers are installed in: made on demand, pinned, apart from our own."""

import hashlib
import subprocess
import sys
from pathlib import Path

from bench.scratch import cache

PINS = Path(__file__).parent.parent / "peers.txt"


def peer_python() -> Path:
    """The interpreter that has the peers."""
    folder = cache() / "peers"
    python = folder / "bin" / "python"
    stamp = folder / "stamp"
    wanted = hashlib.sha256(PINS.read_bytes() + sys.version.encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text("utf-8") == wanted:
        return python
    print(f"Installing the peers of {PINS.name} (once)", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
    # All of it is pinned; Debian's pip does not know a pin of psycopg in "psycopg[pool]".
    subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", str(PINS)], check=True)
    stamp.write_text(wanted, "utf-8")
    return python
