"""Jobs of the shop."""

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F

from tests.contrib.django.project.shop.models import Order
from tickwell import Every
from tickwell.contrib.django import scheduler

#: The connections of Django's that handlers used.
USED: list[BaseDatabaseWrapper] = []


@scheduler.job()
def confirm(number: int) -> int:
    """Count every call in the shop's own table."""
    USED.append(connections["default"])
    return Order.objects.filter(number=number).update(confirmed=F("confirmed") + 1)


@scheduler.job()
async def confirm_async(number: int) -> int:
    """The same in an event loop."""
    return await Order.objects.filter(number=number).aupdate(confirmed=F("confirmed") + 1)


@scheduler.job(isolation="process")
def confirm_alone(number: int) -> int:
    """The same in a process of its own."""
    return Order.objects.filter(number=number).update(confirmed=F("confirmed") + 1)


@scheduler.job(Every("1h"))
def tidy() -> None:
    """By a schedule."""
