"""Health and metrics that say what is not so, or to whom they must not."""

from tickwell.domain import worker
from tickwell.observe.metrics.metrics import Metrics
from tickwell.observe.metrics.series import Series
from tickwell.observe.metrics.store_figures import StoreFigures
from tickwell.ports.records import ExecutionFilter
from tickwell.services.health import SAMPLE
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.history import MemoryHistory
from tickwell.stores.memory.tables import Waits


def counts_of_the_dead_forgotten(patches):
    """What a worker process counted ends with it."""
    patches.setattr(Series, "_inherit", lambda self, samples: None)


def metrics_of_all_projects(patches):
    """The project of an API key is not looked at."""
    patches.setattr(Metrics, "_counted", lambda self, project: self.series.samples())


def nothing_unanswered(patches):
    """Unanswered slots are taken for impossible instead of counted."""

    async def unanswered(self, now):
        return 0

    patches.setattr(StoreFigures, "_unanswered", unanswered)


def replaced_fires_uncounted(patches):
    """A newer fire that takes the place of others before the gate tells of its own end only."""
    sound = Flow.end

    def end(self, row, state, reason, now):
        before = self._ended
        if row.waits is Waits.JOB:
            self._ended = None
        sound(self, row, state, reason, now)
        self._ended = before

    patches.setattr(Flow, "end", end)


def deaths_told_late(patches):
    """A process counts as alive until it has missed three beats."""
    patches.setattr(worker, "MISSED_BEATS", 3)


def lanes_of_a_sample(patches):
    """Only lanes of the newest executions are looked at, as far as one page reaches."""
    sound = MemoryHistory.lane_lengths

    async def lane_lengths(self, state, limit):
        where = ExecutionFilter(states=frozenset({state}))
        page = await self.list_executions(where, limit=SAMPLE)
        seen = {(each.queue, each.ability) for each in page.items}
        lanes = await sound(self, state, limit)
        return [lane for lane in lanes if (lane.queue, lane.ability) in seen]

    patches.setattr(MemoryHistory, "lane_lengths", lane_lengths)
