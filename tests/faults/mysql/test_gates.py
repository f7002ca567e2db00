"""Three processes before the same gates and rates: never above a limit, and all of it runs."""

from tests.faults import test_gates as on_any_store

test_gates_are_exact = on_any_store.test_gates_are_exact
