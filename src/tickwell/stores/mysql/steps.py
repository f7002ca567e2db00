"""The steps of executions on MySQL and MariaDB, where writing them takes several statements."""

from __future__ import annotations

from typing import Any

from tickwell.stores.mysql.database import Database
from tickwell.stores.sql.steps import SqlSteps


class MysqlSteps(SqlSteps[Database]):
    """`ports.store.StepStore`."""

    async def write(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        return await self.database.write(lambda session: session.many("write_steps", rows))
