"""Mail is sent by TLS with a login, once for all attempts, and only for channels."""

import ssl
from email import message_from_string
from email.policy import default

import pytest
import trustme

from tests.executors.http.conftest import a_claim
from tests.executors.smtp_server import SmtpServer
from tickwell.domain.alert.destination import MAIL_HANDLER
from tickwell.domain.job import Job
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handler, Handlers
from tickwell.executors.mail import Mailer, add_mail
from tickwell.settings import Settings

FROM = "tickwell@example.com"
MESSAGE = {"to": "ann@example.com, bob@example.com", "subject": "Firing: Größe", "text": "late\n"}
ID = "0197c0de-0000-7000-8000-00000000abcd"


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def context(authority):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(made)
    return made


@pytest.fixture
def send(authority):
    """Sends the message by a URL, as the job of a channel unless told otherwise."""

    def trusting():
        made = ssl.create_default_context()
        authority.configure_trust(made)
        return made

    async def send(url, name=f"channel-{ID}", make_context=trusting):
        handlers = Handlers()
        mailer = Mailer(url, FROM, make_context)
        handlers.register(Handler(MAIL_HANDLER, mailer.send, shared=True))
        job = Job(id=ID, name=name, trigger=OnDemand(), target=Call(MAIL_HANDLER))
        claim = a_claim(job.target, MESSAGE, job=job)
        executor = CallExecutor(handlers)
        outcome = await executor.run(claim)
        await executor.close()
        return outcome, claim

    return send


@pytest.mark.parametrize(("scheme", "is_wrapped"), [("smtp", False), ("smtps", True)])
async def test_a_message_is_sent_by_tls_and_with_a_login(send, context, scheme, is_wrapped):
    async with SmtpServer(context, is_wrapped) as server:
        url = f"{scheme}://user:pass%2Fword@127.0.0.1:{server.port}"
        outcome, claim = await send(url)
    assert (outcome.kind, outcome.result) == ("succeeded", {})
    (text,) = server.messages
    message = message_from_string(text, policy=default)
    assert (message["From"], message["To"]) == (FROM, MESSAGE["to"])
    assert message["Subject"] == MESSAGE["subject"]
    assert message["Message-ID"] == f"<{claim.id}@example.com>"
    assert message.get_content().startswith("late")
    assert [each for each in server.commands if each.startswith(("AUTH", "MAIL"))] != []


async def test_a_server_that_cannot_be_verified_is_sent_nothing(send, context):
    async with SmtpServer(context) as server:
        url = f"smtp://user:pass%2Fword@127.0.0.1:{server.port}"
        outcome, _ = await send(url, make_context=ssl.create_default_context)
    assert (outcome.kind, server.messages) == ("failed", [])
    assert outcome.retry is not False


async def test_a_local_relay_needs_neither_tls_nor_a_login(send):
    async with SmtpServer(None) as server:
        outcome, _ = await send(f"smtp+plain://127.0.0.1:{server.port}")
    assert (outcome.kind, len(server.messages)) == ("succeeded", 1)


@pytest.mark.parametrize(
    ("replies", "kind", "retry"),
    [
        ({"ann@example.com": "550 unknown", "bob@example.com": "550 unknown"}, "failed", False),
        ({"ann@example.com": "450 later", "bob@example.com": "550 unknown"}, "failed", True),
        ({"ann@example.com": "550 unknown"}, "succeeded", True),
    ],
)
async def test_what_is_refused_for_good_is_not_tried_again(send, replies, kind, retry):
    async with SmtpServer(None, replies=replies) as server:
        outcome, _ = await send(f"smtp+plain://127.0.0.1:{server.port}")
    assert (outcome.kind, outcome.retry is not False) == (kind, retry)
    if kind == "succeeded":
        assert outcome.result == {"ann@example.com": "550 unknown"}


async def test_a_wrong_login_says_so_without_the_password(send, context):
    async with SmtpServer(context) as server:
        outcome, _ = await send(f"smtp://user:wrong-word@127.0.0.1:{server.port}")
    assert outcome.retry is False
    assert "SMTP 535 bad credentials" in outcome.error
    assert "wrong-word" not in str(outcome)


@pytest.mark.parametrize("name", ["report", f"channel-{ID[:-1]}e"])
async def test_no_other_job_sends_mail(send, name):
    async with SmtpServer(None) as server:
        outcome, _ = await send(f"smtp+plain://127.0.0.1:{server.port}", name)
    assert (outcome.kind, outcome.retry, server.commands) == ("failed", False, [])


def test_a_worker_with_an_smtp_server_has_the_handler_once():
    handlers = Handlers("shop")
    settings = Settings(smtp="smtp://mail.example.com", smtp_from=FROM)
    for _ in range(2):
        add_mail(handlers, settings)
    (handler,) = handlers.all()
    assert handlers.ability(handler) == f"call:*/{MAIL_HANDLER}"
