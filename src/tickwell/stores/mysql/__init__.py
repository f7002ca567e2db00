"""The store on MySQL and MariaDB."""

from tickwell.stores.mysql.store import MysqlStore

__all__ = ["MysqlStore"]
