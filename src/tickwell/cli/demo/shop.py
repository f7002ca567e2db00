"""The jobs of the example: a shop's, in five lanes, each with its temper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.document import job_from_document
from tickwell.domain.job import Job
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.trigger.moment import to_text

QUEUES = ("default", "billing", "mail", "catalog", "reports")
#: Handlers of the example; all other jobs call the receiver.
HANDLERS = ("rebuild_search_index", "resize_images", "nightly_revenue", "backup_database")


@dataclass(frozen=True, slots=True)
class Temper:
    """How a job's attempts went in the past week."""

    #: The error of those that failed.
    error: str = ""
    #: How many attempts in a hundred fail.
    often: float = 0.0
    #: Milliseconds before now from which on, and up to which, every attempt failed.
    since: int = 0
    until: int = 0
    #: Milliseconds that an attempt takes, more or less.
    takes: int = 400
    #: Milliseconds of history.
    past: int = 7 * DAY


_GONE = 'HTTP 401 Unauthorized: {"error": "token expired", "since": "yesterday"}'
_DOWN = "HTTP 503 Service Unavailable: upstream connect error or disconnect before headers"
_NO_MODEL = "HTTP 500 Internal Server Error: model not loaded"
_BUSY = "HTTP 503 Service Unavailable: checkout is busy"
_SLOW = "TimeoutError: no answer within 30 s"
TEMPERS = {
    "charge-renewals": Temper(_DOWN, 1.0, since=52 * HOUR, until=49 * HOUR, takes=900),
    "import-supplier-prices": Temper(_GONE, 0.0, since=26 * HOUR, until=-DAY, takes=2600),
    "export-to-warehouse": Temper(_SLOW, 12.0, takes=9000),
    "welcome-series": Temper("HTTP 429 Too Many Requests: slow down", 3.0, takes=250),
    "resize-images": Temper("OSError: image file is truncated", 2.0, takes=5200),
    "nightly-revenue": Temper("ValueError: no exchange rate for 3 orders", 15.0, takes=94_000),
    "backup-database": Temper(takes=170_000),
    "rebuild-search-index": Temper(takes=110_000),
    "partner-feeds": Temper("HTTP 502 Bad Gateway: no answer from the partner", 6.0, takes=1800),
    "fraud-scores": Temper(_NO_MODEL, 1.0, past=3 * DAY, takes=700),
    "probe-checkout": Temper(_BUSY, 1.0, past=5 * HOUR, takes=90),
}

#: Name, trigger, queue, tags.
_JOBS: tuple[tuple[str, Any, str, str], ...] = (
    ("invoice-run", {"cron": "0 6 1 * *", "tz": "Europe/Rome"}, "billing", "money monthly"),
    ("charge-renewals", {"every": "15m"}, "billing", "money"),
    ("dunning-reminders", {"cron": "0 10 * * mon-fri", "tz": "Europe/Rome"}, "billing", "money"),
    ("refund-sweep", {"cron": "5 * * * *"}, "billing", "money"),
    ("payment-reconciliation", {"cron": "20 * * * *"}, "billing", "money"),
    ("tax-report", {"cron": "0 4 1 */3 *"}, "billing", "money"),
    ("currency-rates", {"every": "1h"}, "billing", ""),
    ("fraud-scores", {"every": "5m"}, "billing", "critical"),
    ("newsletter", {"cron": "0 9 * * tue", "tz": "Europe/Rome"}, "mail", "marketing"),
    ("daily-digest", {"cron": "0 7 * * *", "tz": "America/New_York"}, "mail", "marketing"),
    ("abandoned-carts", {"every": "30m"}, "mail", "marketing"),
    ("welcome-series", {"every": "15m"}, "mail", "marketing"),
    ("bounce-cleanup", {"cron": "0 3 * * *"}, "mail", "night"),
    ("delivery-notices", {"every": "10m"}, "mail", "critical"),
    ("import-supplier-prices", {"cron": "10 */2 * * *"}, "catalog", "partners"),
    ("rebuild-search-index", {"cron": "30 1 * * *"}, "catalog", "night"),
    ("resize-images", {"every": "20m"}, "catalog", ""),
    ("stock-levels", {"every": "10m"}, "catalog", "critical"),
    ("sitemap", {"cron": "0 5 * * *"}, "catalog", "night"),
    ("price-watch", {"every": "20m"}, "catalog", ""),
    ("partner-feeds", {"cron": "45 * * * *"}, "catalog", "partners"),
    ("expire-offers", {"cron": "0 0 * * *", "tz": "Europe/Berlin"}, "catalog", "night"),
    ("nightly-revenue", {"cron": "30 2 * * *", "tz": "Europe/Berlin"}, "reports", "night"),
    ("loyalty-points", {"cron": "15 2 * * *", "tz": "Europe/Berlin"}, "reports", "night"),
    ("cohort-report", {"cron": "0 4 * * mon"}, "reports", ""),
    ("board-report", {"cron": "0 8 1 * mon"}, "reports", "monthly"),
    ("export-to-warehouse", {"cron": "15 * * * *"}, "reports", "partners"),
    ("forecast-demand", {"cron": "0 */6 * * *"}, "reports", ""),
    ("backup-database", {"cron": "0 1 * * *", "tz": "America/New_York"}, "default", "critical"),
    ("prune-sessions", {"cron": "50 * * * *"}, "default", ""),
    ("rotate-logs", {"cron": "0 0 * * *"}, "default", "night"),
    ("certificate-check", {"cron": "0 12 * * *"}, "default", "critical"),
    ("probe-checkout", {"every": "30s"}, "default", "critical"),
    ("sla-warnings", {"cron": "*/10 8-18 * * mon-fri", "tz": "Europe/Rome"}, "default", ""),
    ("close-tickets", {"cron": "0 22 * * *"}, "default", "night"),
    ("delete-accounts", {"cron": "0 3 * * sun"}, "default", ""),
    ("legacy-erp-sync", {"every": "30m"}, "default", "partners"),
    ("purge-cdn", {"on_demand": True}, "default", ""),
    ("send-sms", {"on_demand": True}, "mail", "critical"),
    ("export-customer-data", {"on_demand": True}, "default", ""),
    ("train-recommender", {"on_demand": True}, "reports", ""),
)
#: What is paused: by whom and why.
PAUSED = {
    "legacy-erp-sync": ("ada", "until the new ERP is live"),
    "newsletter": ("grace", "the November issue is still in review"),
}


def jobs(now: int, receiver: str) -> list[Job]:
    """The definitions, as if they had been saved when their history begins."""
    found = [_job(name, trigger, queue, tags, receiver) for name, trigger, queue, tags in _JOBS]
    sale = {"once": to_text(to_datetime(now // HOUR * HOUR + 11 * DAY))}
    found.append(_job("open-the-winter-sale", sale, "catalog", "marketing", receiver))
    return found


def temper(name: str) -> Temper:
    """How the job behaves."""
    return TEMPERS.get(name, Temper())


def answer_of(error: str) -> tuple[int, str] | None:
    """Status and body behind "HTTP 502 Bad Gateway: …"; None where nothing answered."""
    head, _, body = error.partition(": ")
    words = head.split(" ")
    return (int(words[1]), body) if words[0] == "HTTP" else None


def _job(name: str, trigger: Any, queue: str, tags: str, receiver: str) -> Job:
    handler = name.replace("-", "_")
    target: dict[str, Any] = {"http": {"url": f"{receiver}/{name}"}}
    if handler in HANDLERS or name == "train-recommender":
        target = {"call": {"handler": handler}}
    document = {
        "id": "",
        "name": name,
        "trigger": trigger,
        "target": target,
        "queue": queue,
        "tags": tags.split(),
        "payload": {"shop": "north", "task": name} if "http" in target else None,
        "retry": {"max_attempts": 3, "delay": "20s"},
    }
    return job_from_document({key: value for key, value in document.items() if value is not None})
