"""Writes the stores of a version: `python -m tests.upgrades 0.1.0`, before its release."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.upgrades.copies import FOLDER, KINDS, path_of, write
from tests.upgrades.shop import leave_behind

FOLDER.mkdir(exist_ok=True)
for _kind, _how in KINDS.items():
    with tempfile.TemporaryDirectory() as _folder:
        _url = _how.url(Path(_folder))
        asyncio.run(leave_behind(_url))
        write(_kind, sys.argv[1], _url)
    _path = path_of(_kind, sys.argv[1])
    sys.stdout.write(f"{_path.name}: {_path.stat().st_size:,} bytes\n")
