"""The topics of the contract, one file each."""

from __future__ import annotations

from tickwell.testing.contract.topics.after_finish import AfterFinish
from tickwell.testing.contract.topics.cancelling import Cancelling
from tickwell.testing.contract.topics.catalog import Adding, Listing
from tickwell.testing.contract.topics.changing import Changing
from tickwell.testing.contract.topics.claiming import Claiming
from tickwell.testing.contract.topics.concurrency import Concurrency
from tickwell.testing.contract.topics.editing import Editing
from tickwell.testing.contract.topics.finishing import Failures, Finishing, Retries
from tickwell.testing.contract.topics.firing import Firing
from tickwell.testing.contract.topics.keys import Keys
from tickwell.testing.contract.topics.liveness import Beating
from tickwell.testing.contract.topics.losses import Losses
from tickwell.testing.contract.topics.max_runs import MaxRuns
from tickwell.testing.contract.topics.overlaps import Overlaps
from tickwell.testing.contract.topics.pausing import Pausing
from tickwell.testing.contract.topics.precision import Precision
from tickwell.testing.contract.topics.promoting import Promoting
from tickwell.testing.contract.topics.pruning import Pruning
from tickwell.testing.contract.topics.reading import Reading
from tickwell.testing.contract.topics.recalling import Recalling
from tickwell.testing.contract.topics.records import Records
from tickwell.testing.contract.topics.repetition import Repetition
from tickwell.testing.contract.topics.requesting import Backfilling, Requesting
from tickwell.testing.contract.topics.settling import Settling
from tickwell.testing.contract.topics.starts import Starts
from tickwell.testing.contract.topics.turns import Turns
from tickwell.testing.contract.topics.unreadable import UnreadableDefinitions
from tickwell.testing.contract.topics.wakeups import Wakeups

#: Every topic, for whoever wants only some.
TOPICS = (
    Firing,
    Turns,
    Promoting,
    Overlaps,
    Losses,
    MaxRuns,
    AfterFinish,
    Keys,
    Claiming,
    Finishing,
    Failures,
    Retries,
    Settling,
    Beating,
    Starts,
    Adding,
    Listing,
    Changing,
    Editing,
    Pausing,
    Recalling,
    Requesting,
    Backfilling,
    Reading,
    Cancelling,
    Records,
    Pruning,
    Wakeups,
    Concurrency,
    Repetition,
    Precision,
    UnreadableDefinitions,
)
