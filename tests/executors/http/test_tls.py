"""Certificates: W5 of the proofs."""

import contextlib
import socket
import ssl
import threading
import warnings
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from tests.executors.http.conftest import Names, a_claim
from tests.executors.http.receiver import answers, hang, sends
from tickwell.domain.http import Http

HOST = "secure.test"


@pytest.fixture(scope="session")
def authority():
    return trustme.CA()


@pytest.fixture
def executor(make_executor, authority):
    def make_context():
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    return make_executor(make_context=make_context, resolver=Names(secure_test=["127.0.0.1"]))


def server_context(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


async def attempt(executor, receiver, **fields):
    target = Http(receiver.url(host=HOST, scheme="https"), **{"timeout": "20s"} | fields)
    return await executor.run(a_claim(target))


async def test_a_good_certificate_is_taken(executor, receive, authority):
    receiver = await receive(ssl=server_context(authority.issue_cert(HOST)))
    assert (await attempt(executor, receiver)).kind == "succeeded"


@pytest.mark.parametrize(
    "fault", ["unknown authority", "self-signed", "wrong host", "expired", "not yet"]
)
async def test_a_bad_certificate_is_refused(executor, receive, authority, fault):
    now = datetime.now(UTC)
    match fault:
        case "unknown authority":
            certificate = trustme.CA().issue_cert(HOST)
        case "self-signed":
            certificate = trustme.CA(organization_name="self").issue_cert(HOST)
        case "wrong host":
            certificate = authority.issue_cert("other.test", "127.0.0.1")
        case "expired":
            certificate = authority.issue_cert(
                HOST, not_before=now - timedelta(days=9), not_after=now - timedelta(days=1)
            )
        case _:
            certificate = authority.issue_cert(
                HOST, not_before=now + timedelta(days=1), not_after=now + timedelta(days=9)
            )
    receiver = await receive(ssl=server_context(certificate))
    outcome = await attempt(executor, receiver)
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert "certificate that is refused" in outcome.error
    assert receiver.exchanges == []


async def test_an_old_protocol_is_refused(executor, receive, authority):
    context = server_context(authority.issue_cert(HOST))
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    receiver = await receive(ssl=context)
    outcome = await attempt(executor, receiver)
    assert (outcome.kind, receiver.exchanges) == ("failed", [])


async def test_plain_http_on_a_tls_port_is_a_failed_attempt(executor, receive):
    receiver = await receive(sends(b"HTTP/1.1 200 OK\r\n\r\n"), rash=True)
    outcome = await attempt(executor, receiver)
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert f"{HOST}:{receiver.port} does not agree on TLS: " in outcome.error
    assert "_ssl.c" not in outcome.error


async def test_a_handshake_that_stalls_ends_at_the_deadline(executor, receive):
    outcome = await attempt(executor, await receive(hang, rash=True), timeout="300ms")
    assert (outcome.kind, outcome.retry) == ("timed_out", True)


@pytest.fixture
def asks_for_certificate(authority):
    clients = trustme.CA()
    context = server_context(authority.issue_cert(HOST))
    context.verify_mode = ssl.CERT_REQUIRED
    clients.configure_trust(context)
    return clients, context


def pem_of(certificate):
    return (certificate.private_key_and_cert_chain_pem.bytes()).decode()


async def test_a_client_certificate_is_shown_to_who_asks(executor, receive, asks_for_certificate):
    clients, context = asks_for_certificate

    async def behave(exchange):
        shown = exchange.writer.get_extra_info("peercert")
        await answers(body=shown["subjectAltName"][0][1].encode())(exchange)

    receiver = await receive(behave, ssl=context)
    for name in ("a.test", "b.test", "a.test"):
        outcome = await attempt(executor, receiver, certificate=pem_of(clients.issue_cert(name)))
        assert outcome.result["body"] == name
    # Without one, or with another authority's, nobody is let in: nor on a connection of another.
    for certificate in (None, pem_of(trustme.CA().issue_cert("a.test"))):
        assert (await attempt(executor, receiver, certificate=certificate)).kind == "failed"


@contextlib.contextmanager
def says_what_it_misses(context):
    """A port that ends a failed handshake as servers do: its alert arrives before it hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection = context.wrap_socket(
            listener.accept()[0], server_side=True, do_handshake_on_connect=False
        )
        with connection:
            with pytest.raises(ssl.SSLError):
                connection.do_handshake()
            with contextlib.suppress(ConnectionError):
                socket.socket.shutdown(connection, socket.SHUT_WR)
                while socket.socket.recv(connection, 65_536):
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    ("version", "shown", "words"),
    [
        (ssl.TLSVersion.TLSv1_3, None, "it asks for a client certificate: give the target one"),
        (ssl.TLSVersion.TLSv1_3, "another's", "does not know the authority of the client"),
        (ssl.TLSVersion.TLSv1_2, None, "perhaps it asks for a client certificate"),
        (ssl.TLSVersion.TLSv1_2, "another's", "does not know the authority of the client"),
    ],
)
async def test_a_client_certificate_that_is_missed_is_named(
    executor, asks_for_certificate, version, shown, words
):
    _, context = asks_for_certificate
    context.maximum_version = version
    certificate = pem_of(trustme.CA().issue_cert("a.test")) if shown else None
    with says_what_it_misses(context) as port:
        target = Http(f"https://{HOST}:{port}/", timeout="20s", certificate=certificate)
        outcome = await executor.run(a_claim(target))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert words in outcome.error


def mixed_up():
    """A key, and the certificate of another."""
    one, other = trustme.CA().issue_cert("a.test"), trustme.CA().issue_cert("b.test")
    return (one.private_key_pem.bytes() + other.cert_chain_pems[0].bytes()).decode()


@pytest.mark.parametrize("pem", ["nonsense", "-----BEGIN CERTIFICATE-----\nAA==\n", mixed_up()])
async def test_a_certificate_that_is_none_is_not_tried_again(executor, receive, authority, pem):
    receiver = await receive(ssl=server_context(authority.issue_cert(HOST)))
    outcome = await attempt(executor, receiver, certificate=pem)
    assert "client certificate cannot be used" in outcome.error
    assert (outcome.retry, receiver.connections) == (False, 0)
