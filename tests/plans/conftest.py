"""The store that tests of plans share."""

from tests.plans.postgres_full import full

__all__ = ["full"]
