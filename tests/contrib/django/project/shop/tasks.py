"""Tasks of Django's framework."""

import threading
from datetime import timedelta

try:
    from django.tasks import task
except ImportError:
    from django_tasks import task

from tickwell import Retry


@task
def add(first, second=0):
    return first + second


@task
async def shout(text):
    return text.upper()


@task(takes_context=True, retry=Retry(max_attempts=2, delay="10ms", jitter=0))
def second_time(context):
    """Fails at first."""
    if context.attempt == 1:
        raise LookupError("not yet")
    return [context.attempt, context.task_result.id]


@task(retry=1)
def fail(text):
    raise ValueError(text)


@task(queue_name="mail", priority=100)
def mail(to):
    return f"mail to {to}"


#: Set by a test, for a task that waits for it.
MAY_END = threading.Event()
BEGUN = threading.Event()


@task
def wait_for_end():
    BEGUN.set()
    return MAY_END.wait(300)


@task(retry=1)
def unserialisable():
    return object()


@task(cron="0 9 * * *", tz="Europe/Rome", timeout=None)
def report():
    """Every morning."""


@task(every=timedelta(minutes=15), overlap="queue_one")
def refresh(full=False):
    return full


urgent_add = add.using(priority=60)
