"""Settings of gunicorn: each worker runs jobs too."""

from tests.library.web import jobs


def post_fork(_server, _worker):
    jobs.scheduler.start_in_background()
