"""The same by Celery beat with RedBeat: `python -m bench.peers.celery_beat BROKER JOBS SECONDS`."""

import json
import sys
import tempfile
import time
from pathlib import Path

from bench.ours.celery_lateness import AFTER
from bench.ours.celery_starts import judged
from bench.ours.celery_worker import named, started
from bench.peers.celery_drain import until_empty

PATIENCE = 300.0


def main(broker: str, jobs: int, seconds: int) -> None:
    import redis

    with tempfile.TemporaryDirectory() as folder:
        starts = Path(folder) / "starts"
        named("", broker, str(starts))
        from bench.peers.celery_app import add_entries, app

        keys = redis.Redis.from_url(broker)
        with started("bench.peers.celery_app"):
            app.send_task("start", ["warm"])
            until_empty(keys)
            add_entries(jobs)
            with started("bench.peers.celery_app", "beat", "-S", "redbeat.RedBeatScheduler"):
                first = _first_start(starts)
                time.sleep(max(first + seconds - 1 + AFTER - time.time(), 0))
                end = time.time()
        keys.close()
        # Its intervals count from its first tick: it has as many fire times from then on.
        fires = {f"job-{n}": [first + k for k in range(seconds)] for n in range(jobs)}
        print(json.dumps(judged(starts, fires, end)))


def _first_start(starts: Path) -> float:
    """When beat began to send."""
    end = time.time() + PATIENCE
    while True:
        lines = [line.split() for line in starts.read_text().splitlines()]
        found = [float(at) for name, at in lines if name != "warm"]
        if found:
            return min(found)
        assert time.time() < end
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
