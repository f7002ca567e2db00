"""MongoDB stores that break a promise."""

from tickwell.stores.mongo.documents import step_key
from tickwell.stores.mongo.steps import MongoSteps, _unless_final
from tickwell.stores.mongo.workspace import concurrency_gates
from tickwell.stores.mongo.workspace.sweep import Sweeper
from tickwell.stores.mongo.workspace.transaction import Transactions


def thaws_everything(patches):
    """A sweep thaws whatever of a job is frozen by then, and not what it saw."""

    async def unfreeze(self, frozen):
        database = self.database
        for id in sorted({doc["job"] for doc in frozen}):
            await database.jobs.update_one({"_id": id}, {"$inc": {"rev": 1}})
            await self.commits.flush([doc async for doc in database.jobs.find({"_id": id})])
            await database.executions.update_many(
                {"job": id, "frozen": {"$exists": True}},
                {"$unset": {"frozen": ""}, "$inc": {"rev": 1}},
            )

    patches.setattr(Transactions, "unfreeze", unfreeze)


def steps_unfenced(patches):
    """A step is written into whatever execution it belongs to."""

    async def write(self, id, attempt, steps):
        fields = {f"steps.{step_key(step.name)}": _unless_final(step) for step in steps}
        await self.database.executions.update_one({"_id": id}, [{"$set": fields}])
        return True

    patches.setattr(MongoSteps, "_write", write)


def lets_frozen_in(patches):
    """Whoever comes to a gate takes a place, also for an execution that is out of reach."""
    patches.setattr(
        concurrency_gates, "_may_enter", lambda holders, doc: len(holders) < doc["limit"]
    )


def sweeps_no_lines(patches):
    """Those that wait at a gate are left to its holder, dead or alive."""

    async def leave(self, now):
        pass

    patches.setattr(Sweeper, "_sweep_lines", leave)
