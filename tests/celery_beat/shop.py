"""A Celery app as people have it: its tasks count their calls in Redis, outside any store."""

import os

import redis
from celery import Celery

from tests.celery_beat.shop_calls import CALLS

app = Celery("shop", broker=os.environ["SHOP_BROKER"])
app.conf.result_expires = None
app.conf.beat_schedule = {
    f"tick-{number}": {"task": "shop.count", "schedule": 0.2, "args": (number,)}
    for number in range(3)
}
#: Without the driver's five seconds, after which it would count once more.
_COUNTS = redis.Redis.from_url(os.environ["SHOP_BROKER"], socket_timeout=None)


@app.task(name="shop.count", bind=True)
def count(self, number):
    _COUNTS.rpush(CALLS, f"{self.request.id} {number}")
