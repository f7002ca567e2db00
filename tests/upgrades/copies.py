"""Copies of a store, by kind: written with the server's own tools, and put back for a test."""

import base64
import gzip
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bson import json_util

from tests.servers import mariadb, mariadb_tables, mongo, postgres, redis_keys
from tests.servers.redis import server as redis_server

#: What holds the copy: a schema, a prefix, a database.
PLACE = "released"
TABLES = f"{PLACE}_"


@dataclass(frozen=True)
class Kind:
    """How a kind of store is copied."""

    suffix: str
    #: An empty place for a store in a folder.
    url: Callable[[Path], str]
    dump: Callable[[str], bytes]
    load: Callable[[str, bytes], None]


def _file(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def _load_sqlite(url: str, copy: bytes) -> None:
    _file(url).write_bytes(copy)


def _postgres_url(_: Path) -> str:
    _psql(f"DROP SCHEMA IF EXISTS {PLACE} CASCADE".encode())
    return f"{postgres.server().url}?schema={PLACE}"


def _dump_postgres(_: str) -> bytes:
    plain = ["--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100"]
    command = [postgres.binary("pg_dump"), *plain, f"--schema={PLACE}", postgres.server().url]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    # Of newer dumps, and unknown to an older psql.
    return b"".join(line for line in text.splitlines(True) if not line.startswith(b"\\"))


def _psql(statements: bytes) -> None:
    command = [postgres.binary("psql"), "--quiet", "--set=ON_ERROR_STOP=1", postgres.server().url]
    subprocess.run(command, input=statements, check=True, capture_output=True)


def _mysql_client(program: str, *options: str, **more: bytes) -> bytes:
    at = mariadb.server()
    login = ["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={at.port}"]
    login += [f"--user={mariadb.USER}"]
    done = subprocess.run(
        [mariadb.binary(program), *login, *options],
        env=os.environ | {"MYSQL_PWD": mariadb.PASSWORD},
        check=True,
        capture_output=True,
        **more,  # type: ignore[call-overload]
    )
    return bytes(done.stdout)


def _mysql_url(_: Path) -> str:
    _drop_tables()
    return mariadb_tables.url(TABLES)


def _drop_tables() -> None:
    names = _mysql_client(
        "mariadb", "--batch", "--skip-column-names", mariadb.DATABASE, input=b"SHOW TABLES"
    ).decode()
    ours = [name for name in names.split() if name.startswith(TABLES)]
    if ours:
        _mysql_client("mariadb", mariadb.DATABASE, input=f"DROP TABLE {', '.join(ours)}".encode())


def _dump_mysql(_: str) -> bytes:
    names = _mysql_client(
        "mariadb", "--batch", "--skip-column-names", mariadb.DATABASE, input=b"SHOW TABLES"
    ).decode()
    ours = [name for name in names.split() if name.startswith(TABLES)]
    plain = ["--compact", "--skip-lock-tables", "--hex-blob"]
    return _mysql_client("mariadb-dump", *plain, mariadb.DATABASE, *ours)


def _load_mysql(_: str, copy: bytes) -> None:
    _mysql_client("mariadb", mariadb.DATABASE, input=copy)


def _mongo_url(_: Path) -> str:
    with mongo.server().client() as client:
        client.drop_database(PLACE)
    return str(mongo.server().url(PLACE))


def _dump_mongo(_: str) -> bytes:
    with mongo.server().client() as client:
        database = client[PLACE]
        found = {name: list(database[name].find()) for name in database.list_collection_names()}
    return json_util.dumps(found, json_options=json_util.CANONICAL_JSON_OPTIONS).encode()


def _load_mongo(_: str, copy: bytes) -> None:
    found = json_util.loads(copy.decode(), json_options=json_util.CANONICAL_JSON_OPTIONS)
    with mongo.server().client() as client:
        for name, documents in found.items():
            if documents:
                client[PLACE][name].insert_many(documents)


def _redis_url(_: Path) -> str:
    redis_keys.empty(PLACE)
    return redis_keys.url(PLACE)


def _dump_redis(_: str) -> bytes:
    found = {}
    with redis_keys.client() as client:
        for key in sorted(client.scan_iter(f"{{{PLACE}}}:*", count=1000)):
            found[key.decode()] = base64.b64encode(client.dump(key) or b"").decode()
    return json.dumps(found).encode()


def _load_redis(_: str, copy: bytes) -> None:
    with redis_keys.client(redis_server()) as client:
        for key, value in json.loads(copy).items():
            client.restore(key, 0, base64.b64decode(value))


KINDS = {
    "sqlite": Kind(
        "db",
        lambda folder: f"sqlite:///{folder}/released.db",
        lambda url: _file(url).read_bytes(),
        _load_sqlite,
    ),
    "postgresql": Kind("sql", _postgres_url, _dump_postgres, lambda _, copy: _psql(copy)),
    "mysql": Kind("sql", _mysql_url, _dump_mysql, _load_mysql),
    "mongodb": Kind("json", _mongo_url, _dump_mongo, _load_mongo),
    "redis": Kind("json", _redis_url, _dump_redis, _load_redis),
}
FOLDER = Path(__file__).parent / "released"


def path_of(kind: str, version: str) -> Path:
    """The file of a copy."""
    return FOLDER / f"{kind}-{version}.{KINDS[kind].suffix}.gz"


def write(kind: str, version: str, url: str) -> None:
    """Copy a store, without the time of the copying."""
    path_of(kind, version).write_bytes(gzip.compress(KINDS[kind].dump(url), mtime=0))


def put_back(kind: str, version: str, folder: Path) -> str:
    """The URL of a store as that version left it."""
    url = KINDS[kind].url(folder)
    KINDS[kind].load(url, gzip.decompress(path_of(kind, version).read_bytes()))
    return url
