"""Static files: read once, with a hash in their URL, so that browsers can cache them for ever."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from tickwell.errors import NotFound
from tickwell.web.authentication import public

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}
#: The parts of `app.css`, in order: later rules win.
_SHEETS = (
    "colours",
    "base",
    "frame",
    "page",
    "tables",
    "forms",
    "dialogs",
    "charts",
    "plain",
    "small",
    "timeline",
    "editor",
    "settings",
    "scripts",
    "reference",
)
_FOREVER = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False, dependencies=[public()])


@cache
def _contents() -> dict[str, bytes]:
    root = files("tickwell.ui") / "static"
    sheets = [(root / f"css/{name}.css").read_bytes() for name in _SHEETS]
    found = {"app.css": b"\n".join(sheets)}
    for folder in ("", "js/", "vendor/"):
        for file in (root / folder).iterdir():
            if file.is_file():
                found[folder + file.name] = file.read_bytes()
    return found


@cache
def _packed(name: str) -> bytes:
    return gzip.compress(_contents()[name], mtime=0)


@cache
def _version() -> str:
    """One hash for all files, since JavaScript modules import each other by relative names."""
    digest = hashlib.sha256()
    for name, content in sorted(_contents().items()):
        digest.update(name.encode() + content)
    return digest.hexdigest()[:12]


def static_url(name: str) -> str:
    """The path of a file."""
    return f"/static/{_version()}/{name}"


@router.get("/static/{version}/{name:path}")
async def static_file(request: Request, version: str, name: str) -> Response:
    """A static file; under the hash of another version it is served uncached."""
    content = _contents().get(name)
    if content is None:
        raise NotFound("file", name)
    caching = _FOREVER if version == _version() else "no-store"
    kind = _TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    headers = {"cache-control": caching, "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        content = _packed(name)
    return Response(content, 200, headers, kind)
