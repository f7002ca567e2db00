"""Where server keys come from: the environment, else a file that is made at the first start."""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

from tickwell.errors import InvalidSetting
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.keyring.keyring import Keyring, ServerKey, read_keys
from tickwell.services.projects.platform import PLATFORM
from tickwell.settings import Settings

KIND = "server_key"


async def find_keys(store: RecordStore, settings: Settings, now: int) -> Keyring:
    """The keys of a store; made where it has none yet, never for one that was written with others.

    A key that was made in vain would stand where the right one is to be copied to.
    """
    return await check_keys(store, settings, now) or cast("Keyring", load_keys(settings, make=True))


async def check_keys(store: RecordStore, settings: Settings, now: int) -> Keyring | None:
    """The keys that are there, if any; refused when the store was written with others."""
    known, path = load_keys(settings, make=False), key_path(settings)
    where = f" to {path}" if known is None and path is not None else ""
    _require(await _used(store, now), known.ids if known else (), where)
    return known


async def require_keys(store: RecordStore, keyring: Keyring, now: int) -> None:
    """Refuse to go on without a key that is in use; remember the ids of those that are.

    Else a second machine would make keys of its own, and neither could read what the other wrote.
    """
    used = await _used(store, now)
    _require(used, keyring.ids)
    current = keyring.current.id
    if current not in used:
        record = Record(kind=KIND, project=PLATFORM, key=current, document={"since": now})
        await store.put_record(record, now, 0)


async def retire_keys(store: RecordStore, current: str, needed: Collection[str], now: int) -> None:
    """Ask no more for those from before the current one that nothing needs."""
    records = await store.list_records(KIND, PLATFORM, "", now)
    since = {record.key: record.document["since"] for record in records}
    for id in since.keys() - {*needed, current}:
        # A newer one is another process's: there the keys are changed already, and not yet here.
        if since[id] < since.get(current, 0):
            await store.delete_record(KIND, PLATFORM, id)


async def _used(store: RecordStore, now: int) -> set[str]:
    return {record.key for record in await store.list_records(KIND, PLATFORM, "", now)}


def _require(used: set[str], known: Collection[str], where: str = "") -> None:
    missing = used - set(known)
    if missing:
        raise InvalidSetting(
            f"the store was written with the server key {min(missing)}, which is not known here",
            field="secret_keys",
            hint=f"Copy the key file from where it was made{where}, or set TICKWELL_SECRET_KEYS",
        )


_ROOT = 0
VARIABLES = ("TICKWELL_SECRET_KEYS", "TICKWELL_SECRET_KEY")
_HEAD = (
    "# Tickwell's server keys, the newest first. Keep them apart from the database:\n"
    "# without them its secrets and API keys cannot be used.\n"
)


def key_file(store: str) -> Path | None:
    """Where the keys of a store are kept unless told otherwise: beside its file, if it has one."""
    scheme, _, rest = store.partition("://")
    if scheme == "memory":
        return None
    if scheme == "sqlite":
        path = unquote(urlsplit(f"//{rest}").path.removeprefix("/"))
        return Path(f"{path}.key")
    return Path("tickwell.key")


def load_keyring(
    environ: Mapping[str, str], path: Path | None, *, make: bool = True
) -> Keyring | None:
    """The keys from the environment, else from the file; None when there are none yet.

    `make`: then a key is made, in the file, or for this process alone when there is no file.
    """
    for name in VARIABLES:
        if name in environ:
            return read_keys(environ[name].split(","), name)
    if path is None:
        return Keyring([ServerKey(secrets.token_bytes(32))]) if make else None
    if not path.exists():
        if not make:
            return None
        _make(path)
    return _read(path)


def key_path(settings: Settings) -> Path | None:
    """Where the keys are, unless the environment has them; None: in memory."""
    return Path(settings.secret_key_file) if settings.secret_key_file else key_file(settings.store)


def load_keys(settings: Settings, *, make: bool) -> Keyring | None:
    """The keys of the store that the settings name."""
    path = key_path(settings)
    if path is not None:
        return load_keyring(os.environ, path, make=make)
    # What is kept in memory is kept by this process: who seals and who opens have the same key.
    if settings.store not in _OF_PROCESS and (made := load_keyring(os.environ, None)):
        _OF_PROCESS[settings.store] = made
    return _OF_PROCESS.get(settings.store)


_OF_PROCESS: dict[str, Keyring] = {}


def add_key(path: Path) -> Keyring:
    """Put a new key before the others in the file; they still open what is old."""
    old = _lines(path.read_text("utf-8"))
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    _write(draft, [_new_text(), *old])
    draft.replace(path)
    return _read(path)


def _read(path: Path) -> Keyring:
    found = path.stat()
    if found.st_uid not in {os.geteuid(), _ROOT}:
        raise InvalidSetting(
            f"{path} belongs to another user, who can read and change it",
            field="secret_key_file",
            hint=f"Make a copy of your own, or run: chown {os.geteuid()} {path}",
        )
    if found.st_mode & 0o077:
        raise InvalidSetting(
            f"others may read {path}", field="secret_key_file", hint=f"Run: chmod 600 {path}"
        )
    return read_keys(_lines(path.read_text("utf-8")), str(path))


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _make(path: Path) -> None:
    """Whole or not at all, so that a second process that starts now reads the same key."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    _write(draft, [_new_text()])
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()


def _write(path: Path, keys: list[str]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_HEAD + "".join(f"{key}\n" for key in keys))
        file.flush()
        os.fsync(file.fileno())


def _new_text() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()
