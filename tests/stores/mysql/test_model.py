"""MariaDB behaves as memory does, whatever the calls and their order."""

import pytest

from tests.property.model.machine import BRIEF, thorough
from tests.servers.mariadb_tables import empty_now, url
from tests.stores.postgres.test_model import PostgresMachine
from tickwell.stores.mysql import MysqlStore

PREFIX = "model_"


class MysqlMachine(PostgresMachine):
    """The same ids."""

    def make_store(self):
        empty_now(PREFIX)
        return MysqlStore.from_url(url(PREFIX) + "&pool=1")


TestMysql = pytest.mark.timeout(600)(thorough(MysqlMachine, BRIEF))
