"""Copies of the jobs in a schema, made by the server, in a tenth of the time of adding them."""

import asyncpg

#: The nth copy is that of job n modulo the number of templates, with an id and a name of its own.
ID = "(substr(template.id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid"
NAME = "'job-' || n"
DOCUMENT = f"""replace(replace(template.document, template.id::text, {ID}::text),
    '"' || template.name || '"', '"job-' || n || '"')"""
JOB = {"id": ID, "name": NAME, "folded": NAME, "document": DOCUMENT}
COPY = """
INSERT INTO {schema}.{table} ({columns}) SELECT {values}
FROM generate_series({templates}, {count} - 1) AS n
JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place FROM {schema}.job) AS template
    ON template.place = n % {templates}
JOIN {schema}.cursor AS cursor ON cursor.job = template.id"""


async def copy_jobs(url: str, schema: str, templates: int, count: int) -> None:
    """Until there are so many."""
    connection = await asyncpg.connect(url)
    await connection.execute("SET synchronous_commit = off")
    # The cursors first: once there are more jobs, those are no templates.
    for table, own in (("cursor", {"job": ID}), ("job", JOB)):
        source = "template" if table == "job" else "cursor"
        names = await columns_of(connection, schema, table)
        statement = COPY.format(
            schema=schema,
            table=table,
            columns=", ".join(names),
            values=", ".join(own.get(name, f"{source}.{name}") for name in names),
            templates=templates,
            count=count,
        )
        await connection.execute(statement)
    await connection.close()


async def columns_of(connection: asyncpg.Connection, schema: str, table: str) -> dict[str, str]:
    """The columns of a table and their types, in order."""
    rows = await connection.fetch(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        f"{schema}.{table}",
    )
    return dict(map(tuple, rows))
