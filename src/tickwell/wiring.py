"""The composition root: settings to running objects. The only module that sees everything.

Each function imports what it makes: a command that only reads a store loads no engine.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from tickwell.clock import Clock
from tickwell.domain.health import Level, LinkState, ProcessHealth
from tickwell.errors import InvalidSetting
from tickwell.ids import ENTROPY, trace_id
from tickwell.log import events as lines
from tickwell.ports.notifier import Notifier
from tickwell.ports.store import Store
from tickwell.services.health import HealthReader, Link
from tickwell.settings import Settings
from tickwell.stores.link import weakness
from tickwell.stores.schemes import SERVERS, scheme_of, unknown

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from fastapi import FastAPI

    from tickwell.brokers.celery import CeleryBroker
    from tickwell.domain.event import Events
    from tickwell.engine.engine import Engine
    from tickwell.engine.hints.dispatcher import Dispatcher
    from tickwell.engine.hints.hint_worker import HintInbox
    from tickwell.engine.loop import WakingService
    from tickwell.executors.celery.executor import CeleryExecutor
    from tickwell.executors.handlers import Handlers
    from tickwell.executors.http.executor import HttpExecutor
    from tickwell.executors.registry import Registry
    from tickwell.observe.metrics.metrics import Metrics
    from tickwell.ports.executor import Conditions, Executor
    from tickwell.ports.tracer import Tracer
    from tickwell.services.operations import OperationContext
    from tickwell.stores.redis.sidecar import RedisNotifier


class NotifyingStore(Store, Notifier, Protocol):
    """A store that also tells of other processes' writes."""


def make_store(url: str) -> NotifyingStore:
    """The store that a URL names; not opened yet. A driver is imported only where it is used."""
    scheme = scheme_of(url)
    if scheme == "memory":
        if url != "memory://":
            reason = "a store in memory has neither a place nor options"
            raise InvalidSetting(reason, field="store", hint="Use memory://")
        from tickwell.stores.memory import MemoryStore

        return MemoryStore()
    if scheme == "sqlite":
        from tickwell.stores.sqlite import SqliteStore

        return SqliteStore.from_url(url)
    if scheme in SERVERS:
        extra, name = SERVERS[scheme]
        try:
            module = import_module(f"tickwell.stores.{extra}")
        except ModuleNotFoundError as error:
            raise InvalidSetting(
                f"{error.name} is not installed",
                field="store",
                hint=f"Install it: pip install 'tickwell[{extra}]'",
            ) from error
        store: NotifyingStore = getattr(module, name).from_url(url)
        return store
    raise unknown(url)


def weak_links(store: str, settings: Settings) -> list[tuple[str, str]]:
    """What others on the network could read or forge, by setting."""
    others = ("notify", "broker", "result_backend")
    urls = {"store": store} | {name: getattr(settings, name) or "" for name in others}
    found = ((setting, weakness(url)) for setting, url in urls.items())
    return [(setting, words) for setting, words in found if words]


@cache
def _warn(setting: str, words: str, *_links: str | None) -> None:
    """Once for the same links in a process: it is the same for every scheduler."""
    lines.INSECURE_LINK.log(setting=setting, reason=words)


def leave_missing(store: Store, *, leave: bool = True) -> None:
    """Refuse to open a database without anything of ours in it, instead of setting it up."""
    bare = store
    while "store" in vars(bare):  # without what stands before it
        bare = vars(bare)["store"]
    if hasattr(bare, "makes"):
        bare.makes = not leave


def make_notifying_store(url: str, settings: Settings) -> NotifyingStore:
    """The same with the Redis that the settings put beside it."""
    store = make_store(url)
    for setting, words in weak_links(url, settings):
        _warn(setting, words, url, settings.notify, settings.broker, settings.result_backend)
    if settings.notify is None or store.name.startswith("memory:"):
        return _observed(store)
    notifier = _make_notifier(store, settings)
    from tickwell.stores.redis.sidecar import NotifyingStore

    return _observed(NotifyingStore(store, notifier))


def _observed(store: Any) -> NotifyingStore:
    from tickwell.observe.store_calls import ObservedStore

    return cast("NotifyingStore", ObservedStore(store))


def make_metrics(store: Store, clock: Clock, settings: Settings, events: Events) -> Metrics:
    """What this process counts, from now on."""
    from tickwell.observe.metrics.metrics import Metrics
    from tickwell.observe.store_calls import ObservedStore
    from tickwell.observe.traces import find_spans

    metrics = Metrics(store, clock, settings, version=version("tickwell"))
    events.subscribe(metrics.counting.hear)
    if isinstance(store, ObservedStore):
        store.record = metrics.counting.record
    if find_spans() is not None:  # an exemplar names a trace that can be looked up
        metrics.counting.trace_of = lambda report: trace_id(report.claim.id)
    return metrics


def _make_notifier(store: Store, settings: Settings) -> RedisNotifier:
    try:
        from tickwell.stores.redis.sidecar import RedisNotifier
    except ModuleNotFoundError as error:
        raise InvalidSetting(
            f"{error.name} is not installed",
            field="notify",
            hint="Install it: pip install 'tickwell[redis]'",
        ) from error
    return RedisNotifier(settings.notify or "", store.name, settings.poll)


def store_file(url: str) -> Path | None:
    """The file that a URL names; None when the store is something else."""
    if not url.startswith("sqlite:"):
        return None
    from tickwell.stores.sqlite.url import parse

    return parse(url).path


def backup_store(url: str, target: Path, progress: Callable[[int, int], None]) -> int:
    """Copy a store of one file to another while it is used; answer the bytes of the copy."""
    path = store_file(url)
    if path is None:
        raise InvalidSetting(
            "only a store of one file is copied like this",
            field="store",
            hint="Use the tools of the database, as pg_dump",
        )
    from tickwell.stores.sqlite.backup import backup

    return backup(path, target, progress)


def make_executor(
    store: Store,
    handlers: Handlers,
    clock: Clock,
    settings: Settings,
    inbox: HintInbox | None = None,
    *,
    tracer: Tracer | None = None,
) -> Registry:
    """What carries out every kind of target; the client for webhooks is loaded when one is sent."""
    from tickwell.domain.celery import Celery
    from tickwell.domain.http import Http
    from tickwell.domain.target import Call
    from tickwell.executors.call import CallExecutor
    from tickwell.executors.notes import StoreNotes
    from tickwell.executors.registry import Registry
    from tickwell.observe.log_output.child import child_log
    from tickwell.services.executions.answers import answer_url

    http = make_sender(store, clock, settings, tracer=tracer)
    if settings.smtp:
        from tickwell.executors.mail import add_mail

        add_mail(handlers, settings)
    notes = StoreNotes(store, clock, lambda *wait: answer_url(settings, *wait))
    calls = CallExecutor(handlers, notes)
    calls.children.begin = child_log()
    if inbox is not None:
        calls.thread_for = inbox.thread_for
    return Registry(
        {
            Call: calls,
            Celery: make_task_sender(store, clock, settings),
            Http: http,
        }
    )


def make_conditions(
    store: Store, handlers: Handlers, clock: Clock, settings: Settings
) -> Conditions:
    """What asks the conditions of jobs; it loads nothing before the first of them."""
    from tickwell.executors.call import CallExecutor
    from tickwell.executors.condition import AskedConditions

    make = partial(make_sender, store, clock, settings)
    calls = CallExecutor(handlers)
    calls.has_middleware = False
    return AskedConditions(store, calls, make)


def make_task_sender(store: Store, clock: Clock, settings: Settings) -> CeleryExecutor:
    """What sends Celery tasks; Celery itself is imported with the first one."""
    from tickwell.executors.celery.executor import CeleryExecutor
    from tickwell.executors.celery.marks import Marks

    if settings.broker and find_spec("celery") is None:
        raise InvalidSetting(
            "celery is not installed",
            field="broker",
            hint="Install it: pip install 'tickwell[celery]'",
        )
    return CeleryExecutor(
        clock,
        Marks(store, clock),
        settings.broker,
        settings.result_backend,
        settings.celery_tasks,
    )


def make_sender(
    store: Store,
    clock: Clock,
    settings: Settings,
    *,
    tracer: Tracer | None = None,
) -> HttpExecutor:
    """What sends webhooks, guarded as the settings say."""
    from tickwell.executors.http.executor import HttpExecutor
    from tickwell.executors.http.network.guard import Guard
    from tickwell.services.keyring.source import load_keys
    from tickwell.services.secrets.source import StoredSecrets

    return HttpExecutor(
        clock,
        Guard.of(settings),
        per_host=settings.per_host,
        breaker_failures=settings.breaker_failures,
        breaker_rest=settings.breaker_rest,
        secrets=StoredSecrets(store, clock, lambda: load_keys(settings, make=False)),
        tracer=tracer,
    )


def make_engine(
    store: NotifyingStore,
    handlers: Handlers,
    clock: Clock,
    settings: Settings,
    *,
    events: Events,
    roles: Collection[str] | None = None,
    executor: Executor | None = None,
    extra: Sequence[WakingService] = (),
    inbox: HintInbox | None = None,
) -> Engine:
    """An engine on an opened store; with an inbox, one that runs only what hints name."""
    from tickwell.engine.engine import ROLES, Engine
    from tickwell.executors.check_ins import OutgoingCheckIns
    from tickwell.observe.store_calls import ObservedStore
    from tickwell.observe.traces import find_spans
    from tickwell.services.alerts.evaluator import PERIOD, Evaluator
    from tickwell.services.callbacks.relay import Relay
    from tickwell.services.executions.executions import Executions, read_trigger
    from tickwell.services.heartbeat import Heartbeat

    roles = ROLES if roles is None else roles
    shared = store.name.startswith("memory:")  # no second handle can see its data
    if settings.engine == "celery" and "planner" in roles:
        extra = [*extra, make_dispatcher(store, clock, settings)]
    random = ENTROPY
    runs = Executions(store, clock, random, lambda: None)
    relay = Relay(store, clock, runs, sweep=settings.sweep)
    check_ins = OutgoingCheckIns(clock, partial(make_sender, store, clock, settings))
    own: list[WakingService] = [relay, check_ins] if "worker" in roles else [check_ins]
    if settings.heartbeat_url and "planner" in roles:
        reader = HealthReader(store, clock)
        own.append(Heartbeat(settings.heartbeat_url, clock, reader, check_ins, random))
    alerts = Evaluator(
        store,
        clock,
        runs,
        HealthReader(store, clock),
        random,
        period=max(PERIOD, settings.sweep),
        public_url=settings.public_url,
    )
    spans = find_spans(trace_store=settings.trace_store)
    runs_targets = executor or make_executor(store, handlers, clock, settings, inbox, tracer=spans)
    if spans is not None:
        from tickwell.observe.spans import TracedExecutor

        if settings.trace_store and isinstance(store, ObservedStore):
            store.span = spans.store_operation

        runs_targets = TracedExecutor(
            runs_targets, spans, lambda claim: read_trigger(store, claim, clock.now())
        )
    engine = Engine(
        store,
        runs_targets,
        clock,
        settings,
        random=random,
        events=events,
        roles=roles,
        notifier=None if shared else store,
        planner_lease=getattr(store, "notifier", None),
        # By the URL that was given: the store's name has no credentials.
        open_pulse_store=None if shared else lambda: _pulse_store(settings.store, store),
        extra=[*extra, alerts, *own],
        inbox=inbox,
        conditions=make_conditions(store, handlers, clock, settings),
        tracer=spans,
    )
    runs.wake = engine.wake
    alerts.listen(events)
    if "worker" in roles:
        relay.listen(events)
        check_ins.listen(events)
        engine.runner.starts.on_check_in = check_ins.started
    return engine


def _pulse_store(url: str, observed: Store) -> Store:
    """A second handle on a store that is open: emptied since then, it is not set up again.

    It is observed as the first one is.
    """
    from tickwell.observe.store_calls import ObservedStore

    store = make_store(url)
    leave_missing(store)
    if isinstance(observed, ObservedStore):
        return cast("Store", ObservedStore(store, record=observed.record, span=observed.span))
    return store


def make_dispatcher(store: NotifyingStore, clock: Clock, settings: Settings) -> Dispatcher:
    """The service that sends hints of due executions to Celery's workers."""
    from tickwell.engine.hints.dispatcher import Dispatcher

    if store.name.startswith("memory:"):
        raise InvalidSetting(
            "Celery's workers cannot see what this process keeps in memory",
            field="engine",
            hint="Choose another store, as sqlite:///jobs.db",
        )
    return Dispatcher(store, clock, settings, _make_broker(settings))


def health_links(store: Store, settings: Settings) -> list[Link]:
    """The servers besides the store that health asks whether they answer."""
    found = []
    if settings.notify is not None and not store.name.startswith("memory:"):
        notifier = _make_notifier(store, settings)
        state = LinkState(
            check="redis",
            name="the Redis server for wake-ups",
            error=None,
            level=Level.AMBER,
            effect="processes poll instead of being woken, and jobs may start later",
            remedy="Start it, or correct the setting notify; jobs run meanwhile",
        )
        found.append(Link(state=state, ping=notifier.ping, close=notifier.close))
    if settings.engine == "celery":
        state = LinkState(
            check="broker",
            name="the Celery broker",
            error=None,
            level=Level.RED,
            effect="Celery workers are not told what is due",
            remedy="Start it, or correct the setting broker; work then resumes by itself",
        )
        broker = _make_broker(settings)

        async def hang_up() -> None:
            broker.close()

        found.append(
            Link(state=state, ping=lambda: broker.depths(settings.queues[:1]), close=hang_up)
        )
    return found


def _make_broker(settings: Settings) -> CeleryBroker:
    try:
        from tickwell.brokers.celery import CeleryBroker
    except ModuleNotFoundError as error:
        raise no_celery(error, "engine") from error
    return CeleryBroker(settings.broker)


def no_celery(error: ModuleNotFoundError, field: str) -> InvalidSetting:
    """What to do about a package that is missing."""
    return InvalidSetting(
        f"{error.name} is not installed",
        field=field,
        hint="Install it: pip install 'tickwell[celery]'",
    )


def make_api(
    operation_context: OperationContext,
    *,
    health: Callable[[], ProcessHealth],
    settings: Settings,
    events: Events,
    metrics: Metrics | None = None,
) -> FastAPI:
    """API and dashboard over a store; `app.state.context` is to be closed.

    Where there are no server keys yet, nobody is let in before the first start has made them.
    """
    from tickwell.api.server import require_framework

    require_framework()
    from tickwell.api.app import create_app
    from tickwell.services.admin.admin import check_issuers
    from tickwell.services.jobs.admission import admission
    from tickwell.services.keyring.source import load_keys
    from tickwell.ui.app import create_ui
    from tickwell.web.access import let_in
    from tickwell.web.context import Context

    check_issuers(settings)
    store, clock = operation_context.store, operation_context.clock
    operation_context.jobs.admit = admission(clock, settings)
    operation_context.sender = make_sender(store, clock, settings)
    operation_context.weak_links = weak_links(settings.store, settings)
    operation_context.health.links = health_links(store, settings)
    context = Context.over(operation_context, health=health, settings=settings, events=events)
    if settings.metrics:
        context.metrics = metrics or make_metrics(store, clock, settings, events)
        context.metrics.judge = operation_context.health.platform
    if (keyring := load_keys(settings, make=False)) is not None:
        let_in(context, operation_context, keyring)
    app = create_app(context)
    # Not mounted, which would match every address: what the API has by another method is a 405.
    app.router.default = create_ui(context)
    return app


def loop_factory() -> Callable[[], AbstractEventLoop]:
    """Uvloop where it is installed: a thin loop matters when thousands start at one instant."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    factory: Callable[[], AbstractEventLoop] = uvloop.new_event_loop
    return factory


def have_for_ourselves() -> None:
    """Set Python up for a process that is all ours: threads have its lock sooner.

    SQLite's thread lets go of it for every statement, and waits 5 ms to have it back beside a busy
    event loop: so the two worked in turn, never at once. A drain takes 8 % less time with 0.2 ms.
    """
    from tickwell.engine.running.start_guard import collect_rarely

    collect_rarely()
    sys.setswitchinterval(0.0002)
