"""Three processes before the same gates: never more than the limit, never idle while one waits."""

from tests.faults import test_gates as on_any_store

test_gates_are_exact = on_any_store.test_gates_are_exact
