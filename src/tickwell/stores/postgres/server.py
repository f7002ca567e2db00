"""Whether a server, a database and a schema can be ours, before anything is written."""

from __future__ import annotations

import asyncpg

from tickwell.errors import StoreRefused
from tickwell.stores.postgres.url import Location
from tickwell.stores.sql.statements import TABLES

#: The oldest server that has what the statements use: materialised CTEs that are asked for.
OLDEST = 120_000
RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")

_FACTS = """
SELECT current_setting('server_version_num')::int AS version,
       current_setting('server_version') AS version_name,
       current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() AS is_replica,
       current_setting('default_transaction_read_only')::bool AS read_only,
       current_user AS role,
       has_database_privilege(current_database(), 'CREATE') AS may_create,
       (SELECT oid FROM pg_namespace WHERE nspname = $1) AS schema
"""
_FOUND = """
SELECT class.relname AS name, has_table_privilege(class.oid, 'SELECT') AS readable,
       (SELECT array_agg(attname::text) FROM pg_attribute
        WHERE attrelid = class.oid AND attnum > 0) AS columns
FROM pg_class AS class WHERE class.relnamespace = $1 AND class.relname = ANY ($2::text[])
"""


async def check(connection: asyncpg.Connection, location: Location) -> bool | None:
    """Raise `StoreRefused` for what cannot be used, or is somebody else's.

    True: our tables are there. None: they are to be made.
    """
    facts = await connection.fetchrow(_FACTS, location.schema)
    where, role = location.name, facts["role"]
    if facts["version"] < OLDEST:
        raise StoreRefused(f"{where} is PostgreSQL {facts['version_name']}; 12 or newer is needed")
    if facts["encoding"] != "UTF8":
        raise StoreRefused(
            f"{where} is encoded in {facts['encoding']}; create a database with ENCODING 'UTF8'"
        )
    if facts["is_replica"]:
        raise StoreRefused(f"{where} is read-only, as a replica is; name the primary server")
    if facts["read_only"]:
        raise StoreRefused(
            f"{where} is read-only for {role}, as it is set; as its owner: ALTER ROLE"
            f" {quoted(role)} SET default_transaction_read_only = off"
        )
    if facts["schema"] is None:
        if not facts["may_create"]:
            raise StoreRefused(
                f"{where}: {role} may not create the schema {location.schema}; as the database's"
                f' owner: CREATE SCHEMA "{location.schema}" AUTHORIZATION {quoted(role)}'
            )
        return None
    return await _check_schema(connection, location, facts)


async def _check_schema(
    connection: asyncpg.Connection, location: Location, facts: asyncpg.Record
) -> bool | None:
    where, role, schema = location.name, facts["role"], location.schema
    rights = await connection.fetchrow(
        "SELECT has_schema_privilege($1::oid, 'USAGE') AS usage,"
        " has_schema_privilege($1::oid, 'CREATE') AS creation",
        facts["schema"],
    )
    found = {row["name"]: row for row in await connection.fetch(_FOUND, facts["schema"], TABLES)}
    if not rights["usage"]:
        raise StoreRefused(
            f"{where}: {role} may not use the schema {schema}; as its owner: GRANT USAGE ON SCHEMA"
            f' "{schema}" TO {quoted(role)}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN'
            f' SCHEMA "{schema}" TO {quoted(role)}'
        )
    if found and not await _is_ours(connection, location, found):
        raise StoreRefused(
            f"{where}: the schema {schema} has a table {min(found)} that is not Tickwell's;"
            " name another schema with ?schema="
        )
    if not found and not rights["creation"]:
        raise StoreRefused(
            f"{where}: {role} may not create tables in the schema {schema}; as its owner: GRANT"
            f' CREATE ON SCHEMA "{schema}" TO {quoted(role)}'
        )
    return True if found else None


async def _is_ours(
    connection: asyncpg.Connection, location: Location, found: dict[str, asyncpg.Record]
) -> bool:
    meta = found.get("meta")
    if meta is None or set(meta["columns"]) != {"name", "value"}:
        return False
    if not meta["readable"]:
        return True  # and the rights are missing, which is said next
    noted = await connection.fetchval(
        f"SELECT value FROM \"{location.schema}\".meta WHERE name::text = 'application'"  # noqa: S608
    )
    return bool(noted == "tickwell")


def quoted(name: str) -> str:
    """A name as SQL has it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


async def check_rights(connection: asyncpg.Connection, location: Location) -> None:
    """Raise `StoreRefused` when a right to one of our tables is missing, named with its remedy."""
    schema = location.schema
    missing = await connection.fetchrow(
        "SELECT name, kind, current_user AS role"
        " FROM unnest($1::text[]) AS name, unnest($2::text[]) AS kind"
        " WHERE NOT has_table_privilege(format('%I.%I', $3::text, name), kind)"
        " ORDER BY name LIMIT 1",
        TABLES,
        RIGHTS,
        schema,
    )
    if missing is not None:
        role = missing["role"]
        raise StoreRefused(
            f"{location.name}: {role} has no {missing['kind']} on the table {missing['name']}; as"
            f' its owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}"'
            f" TO {quoted(role)}"
        )
