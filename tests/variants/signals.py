"""Metrics that say what is not so, or to whom they must not."""

from tickwell.observe.metrics.metrics import Metrics
from tickwell.observe.metrics.series import Series
from tickwell.observe.metrics.store_figures import StoreFigures


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
