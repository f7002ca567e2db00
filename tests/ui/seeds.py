"""Jobs of every kind, and executions in every state, by the work of the service itself."""

from typing import Any

LONG = "export-of-" + "every-customer-of-the-northern-hemisphere-" * 3 + "weekly"
JOBS: dict[str, dict[str, Any]] = {
    "heartbeat": {"trigger": {"every": "1s"}},
    "nightly": {
        "trigger": {"cron": "30 2 * * *", "tz": "Europe/Berlin"},
        "tags": ["reports", "night"],
        "description": "Sums up the day.",
    },
    "payday": {"trigger": {"cron": "0 9 13 * fri"}, "tags": ["reports"], "queue": "mail"},
    "after-itself": {"trigger": {"every": "1h", "after": "finish"}},
    "new-year": {"trigger": {"once": "2030-01-01T00:00:00Z"}},
    "both": {"trigger": {"any_of": [{"cron": "0 8 * * *"}, {"every": "6h"}]}},
    "stopped": {"trigger": {"every": "5m"}},
    "unserved": {"queue": "unserved"},
    LONG: {"trigger": {"cron": "*/15 * * * *"}, "tags": ["a-tag-of-some-length", "another-one"]},
}


def seed(site):
    """Fill it; what was done stays in `site.ids`, executions by what became of them."""
    hook = {"http": {"url": f"{site.url}/healthz", "method": "GET"}}
    site.add("hook", target=hook, payload={"customer": 7})
    jobs = {name: site.add(name, **fields)["id"] for name, fields in JOBS.items()}
    site.post("/jobs/stopped/pause", note="the mail server is moved")
    site.ids = {
        "worked": site.run("works", payload={"customer": 7}).id,
        "called": site.run("hook").id,
        "stumbled": site.run("stumbles").id,
        "dead": site.run("breaks").id,
        "parked": site.run("unserved", {"parked"}).id,
        "held": site.run("holds", {"running"}).id,
        "later": site.run("works", {"waiting"}, **{"in": "1h"}).id,
    }
    site.jobs = jobs
