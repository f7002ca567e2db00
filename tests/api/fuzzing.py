"""Requests made from the description of the API by schemathesis, as one role, with all its checks.

Ids in paths are those of real records half of the time, in examples always: what is not found is
found out soon.
"""

from collections import defaultdict
from itertools import count

import schemathesis
from schemathesis import engine, hooks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.engine import events

PHASES = ("examples", "coverage", "fuzzing", "stateful")
#: An answer without an end; and what would take away from whoever asks what it asks with.
LEFT_OUT = ("stream_events", "set_password")
#: Nobody takes away from these what all of them need.
NOUNS_OF_OWN = {"users", "projects", "members", "keys"}


class Fuzz:
    """A run against a server; `failures` is empty when all is well, `statuses` what was seen."""

    def __init__(self, serving, role, *, phases, examples, seed, seconds=None):
        self.serving, self.role = serving, role
        self.statuses, self.failures = defaultdict(set), {}
        self.turns, self.label, self.known = count(), None, {}
        whole = schemathesis.openapi.from_dict(
            serving.app.openapi(), config=self._config(phases, examples, seed, seconds)
        )
        self.schema = whole.exclude(operation_id=list(LEFT_OUT))

    def _config(self, phases, examples, seed, seconds):
        limits = {} if seconds is None else {"max-time": seconds}
        return SchemathesisConfig.from_dict(
            {
                "base-url": self.serving.url,
                "headers": {"Authorization": f"Bearer {self.serving.tokens[self.role]}"},
                "workers": 1,
                "request-timeout": 100,
                "continue-on-failure": True,
                "seed": seed,
                "suppress-health-check": ["all"],
                "generation": {"max-examples": examples, "no-shrink": True},
                "phases": {name: {"enabled": name in phases} for name in PHASES},
                "checks": {
                    # What a text must be, as a cron expression, no schema says.
                    "positive_data_acceptance": {"enabled": False},
                    "negative_data_rejection": {"enabled": False},
                    "missing_required_header": {"expected-statuses": ["4xx"]},
                },
                **limits,
            }
        )

    def run(self):
        """All phases; answer what was wrong, by the check and the operation."""
        hooked = self._hooks()
        try:
            self._follow(engine.from_schema(self.schema).execute())
        finally:
            for each in hooked:
                hooks.unregister(each)
        return self.failures

    def _follow(self, stream):
        for event in stream:
            if isinstance(event, events.ScenarioFinished):
                self._look(event.recorder)
            elif isinstance(event, events.NonFatalError):
                self.failures["error", event.label] = str(event.value)
            elif isinstance(event, events.FatalError):
                raise event.exception

    def _look(self, recorder):
        for nodes in recorder.checks.values():
            for node in nodes:
                if node.failure_info is not None:
                    failure = node.failure_info.failure
                    said = f"{failure.title}: {failure.message}\n{node.failure_info.code_sample}"
                    self.failures.setdefault((node.name, failure.operation), said)

    def _hooks(self):
        """Functions, for all schemas: there are no others."""

        @schemathesis.hook
        def before_call(context, case, kwargs):
            self._aim(case)

        @schemathesis.hook
        def after_call(context, case, response):
            name = case.operation.definition.raw["operationId"]
            self.statuses[name].add(response.status_code)

        return before_call, after_call

    def _aim(self, case):
        """Point at what there is, and let nobody saw off their own branch."""
        operation = case.operation
        nouns = NOUNS_OF_OWN & set(operation.path.split("/"))
        for name, value in (case.path_parameters or {}).items():
            if nouns and value in self.serving.own:
                case.path_parameters[name] = "none"
        if case.meta is None or not case.path_parameters or self._keeps_path(case.meta):
            return
        name = operation.definition.raw["operationId"]
        if operation.label != self.label:
            self.label, self.known = (
                operation.label,
                self.serving.seeds.values(name, operation.path),
            )
        case.path_parameters = dict(self.known)
        if "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = "*"
        if name == "replace_job" and isinstance(case.body, dict) and "name" in case.body:
            case.body["name"] = self.known["key"]

    def _keeps_path(self, meta):
        phase = meta.phase.name.value
        if phase == "stateful" or meta.is_negative_at(ParameterLocation.PATH):
            return True
        return phase != "examples" and next(self.turns) % 2 == 0
