"""Copies of the jobs in tables, made by the server."""

from typing import Any

import asyncmy

from tickwell.stores.mysql.url import parse

#: Job n is a copy of job n modulo the number of templates, with an id and a name of its own.
N = "(copy.place * {templates} + template.place)"
ID = f"CONCAT(SUBSTR(template.id, 1, 24), LPAD(LOWER(HEX({N})), 12, '0'))"
NAME = f"CONCAT('job-', {N})"
DOCUMENT = f"""REPLACE(REPLACE(template.document, template.id, {ID}),
    CONCAT('"', template.name, '"'), CONCAT('"job-', {N}, '"'))"""
JOB = {"id": ID, "name": NAME, "live_name": NAME, "folded": NAME, "document": DOCUMENT}
TEMPLATES = """
CREATE TEMPORARY TABLE template AS
SELECT *, ROW_NUMBER() OVER (ORDER BY id) - 1 AS place FROM {prefix}job"""
COPIES = "CREATE TEMPORARY TABLE copy AS SELECT place FROM template WHERE place > 0"
COPY = """
INSERT INTO {prefix}{table} ({columns}) SELECT {values}
FROM template CROSS JOIN copy JOIN {prefix}cursor AS cur ON cur.job = template.id
WHERE {n} < {count} ORDER BY {n}"""


async def copy_jobs(url: str, prefix: str, templates: int, count: int) -> None:
    """Until there are so many, which is at most the square of the templates."""
    place = parse(url)
    connection = await asyncmy.connect(**place.driver, database=place.database, charset="utf8mb4")
    async with connection.cursor() as cursor:
        await cursor.execute(TEMPLATES.format(prefix=prefix))
        await cursor.execute(COPIES)
        # The cursors first: once there are more jobs, they are looked up in more.
        for table, own in (("cursor", {"job": ID}), ("job", JOB)):
            source = "template" if table == "job" else "cur"
            names = await columns_of(cursor, f"{prefix}{table}")
            values = ", ".join(own.get(name, f"{source}.{name}") for name in names)
            statement = COPY.format(
                prefix=prefix,
                table=table,
                columns=", ".join(names),
                values=values.format(templates=templates),
                n=N.format(templates=templates),
                count=count,
            )
            await cursor.execute(statement)
            await cursor.execute("COMMIT")
    await connection.ensure_closed()


async def columns_of(cursor: Any, table: str) -> list[str]:
    """The columns of a table, in order."""
    await cursor.execute(f"SHOW COLUMNS FROM {table}")
    return [name for name, *_ in await cursor.fetchall()]
