"""The topics of the contract."""

from __future__ import annotations

from tickwell.testing.contract.topics.answers import Answers
from tickwell.testing.contract.topics.backlogs import Backlogs
from tickwell.testing.contract.topics.cancelling import Cancelling, Settling
from tickwell.testing.contract.topics.catalog import Adding, Listing
from tickwell.testing.contract.topics.claiming import Claiming
from tickwell.testing.contract.topics.concurrency import Concurrency
from tickwell.testing.contract.topics.conditions import Conditions
from tickwell.testing.contract.topics.copying import Copying
from tickwell.testing.contract.topics.editing import Changing, Editing, Recalling
from tickwell.testing.contract.topics.finishing import AfterFinish, Failures, Finishing, Retries
from tickwell.testing.contract.topics.firing import Firing, MaxRuns, Turns
from tickwell.testing.contract.topics.keys import Keys
from tickwell.testing.contract.topics.leftovers import Leftovers
from tickwell.testing.contract.topics.liveness import Beating, Losses, Starts
from tickwell.testing.contract.topics.maintenance import Maintenance
from tickwell.testing.contract.topics.overlaps import Overlaps
from tickwell.testing.contract.topics.pausing import Pausing
from tickwell.testing.contract.topics.precision import Precision
from tickwell.testing.contract.topics.project_pauses import ProjectPauses
from tickwell.testing.contract.topics.promoting import Promoting, Wakeups
from tickwell.testing.contract.topics.pruning import Pruning
from tickwell.testing.contract.topics.rates import Rates
from tickwell.testing.contract.topics.reading import Reading
from tickwell.testing.contract.topics.records import Records
from tickwell.testing.contract.topics.repetition import Repetition
from tickwell.testing.contract.topics.requesting import Backfilling, Requesting
from tickwell.testing.contract.topics.skipping import Skipping
from tickwell.testing.contract.topics.steps import Steps
from tickwell.testing.contract.topics.uniqueness import Debounce, Uniqueness
from tickwell.testing.contract.topics.unreadable import UnreadableDefinitions

#: Every topic, for a test that needs only some.
TOPICS = (
    Firing,
    Turns,
    Promoting,
    Overlaps,
    Losses,
    Leftovers,
    MaxRuns,
    AfterFinish,
    Keys,
    Rates,
    Uniqueness,
    Debounce,
    Claiming,
    Finishing,
    Failures,
    Retries,
    Conditions,
    Settling,
    Beating,
    Starts,
    Steps,
    Answers,
    Adding,
    Listing,
    Changing,
    Editing,
    Pausing,
    Maintenance,
    ProjectPauses,
    Skipping,
    Recalling,
    Backlogs,
    Requesting,
    Backfilling,
    Reading,
    Cancelling,
    Records,
    Pruning,
    Wakeups,
    Concurrency,
    Repetition,
    Copying,
    Precision,
    UnreadableDefinitions,
)
