"""Calls that fail at every one of a process's store calls, on SQLite: as on the specification."""

from tests.faults.test_kill_sweep import sweep


def test_cut_at_every_store_call(tmp_path):
    sweep(tmp_path, "reset")
