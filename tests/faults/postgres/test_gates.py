"""Three processes before the same gates, rates and limits: never above one, and all of it runs."""

from tests.faults import test_gates as on_any_store

test_gates_are_exact = on_any_store.test_gates_are_exact
test_a_limit_of_running_attempts_is_exact = on_any_store.test_a_limit_of_running_attempts_is_exact
