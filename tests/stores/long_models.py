"""The machine at length on every store that is durable."""

import pytest

from tests.property.model.machine import thorough
from tests.property.model.test_sqlite import SqliteMachine
from tests.stores.mongo.test_model import MongoMachine
from tests.stores.mysql.test_model import MysqlMachine
from tests.stores.postgres.test_model import PostgresMachine
from tests.stores.redis.test_model import RedisMachine

RUNS = 300

TestMongo = pytest.mark.timeout(1200)(thorough(MongoMachine, RUNS))
TestMysql = pytest.mark.timeout(1200)(thorough(MysqlMachine, RUNS))
TestPostgres = pytest.mark.timeout(1200)(thorough(PostgresMachine, RUNS))
TestRedis = pytest.mark.timeout(1200)(thorough(RedisMachine, RUNS))
TestSqlite = pytest.mark.timeout(1200)(thorough(SqliteMachine, RUNS))
