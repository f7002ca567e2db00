"""A worker that stands still past its lease is fenced here too."""

from tests.faults import test_zombie as on_any_store


def test_a_report_that_comes_too_late_is_refused_and_counted(site, processes):
    on_any_store.test_a_report_that_comes_too_late_is_refused_and_counted(site, processes)


def test_a_worker_that_was_frozen_in_an_attempt_begins_anew(site, processes):
    on_any_store.test_a_worker_that_was_frozen_in_an_attempt_begins_anew(site, processes)
