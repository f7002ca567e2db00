"""Certificates: W5 of the proofs."""

import asyncio
import contextlib
import hashlib
import socket
import ssl
import struct
import threading
import warnings
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import trustme

from tests.executors.http import der
from tests.executors.http.conftest import Names, a_claim
from tests.executors.http.receiver import answers, hang, sends
from tickwell.domain.http import Http
from tickwell.executors.http.client import connections as wire
from tickwell.executors.http.tls.handshake import is_harmless

HOST = "secure.test"


def e_scaled(bits):
    """The number e times 2**bits, rounded down."""
    term = one = 1 << bits + 64
    total, number = one, 0
    while term:
        number += 1
        term //= number
        total += term
    return total >> 64


#: The prime of the group ffdhe2048, RFC 7919.
FFDHE2048 = 2**2048 - 2**1984 + (e_scaled(1918) + 560316) * 2**64 - 1
#: The random of a hello that asks for another group, RFC 8446.
RETRY = hashlib.sha256(b"HelloRetryRequest").digest()


@pytest.fixture(scope="session")
def authority():
    return trustme.CA()


@pytest.fixture
def executor(make_executor, authority):
    names = Names(secure_test=["127.0.0.1"])
    return make_executor(make_context=partial(trusting, authority), resolver=names)


def trusting(authority):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


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


async def test_a_receiver_that_offers_only_dhe_is_refused(executor, receive, authority, tmp_path):
    certificate = authority.issue_cert(HOST, key_type=trustme.KeyType.RSA)
    context = server_context(certificate)
    file = tmp_path / "dh.pem"
    file.write_text(der.pem("DH PARAMETERS", der.sequence(der.integer(FFDHE2048), der.integer(2))))
    context.load_dh_params(file)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("DHE-RSA-AES128-GCM-SHA256")
    receiver = await receive(ssl=context)
    outcome = await attempt(executor, receiver)
    assert (outcome.kind, outcome.retry, receiver.exchanges) == ("failed", True, [])


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("curve", ["prime256v1", "secp384r1", "secp521r1", "X25519"])
async def test_every_usual_curve_is_taken(executor, receive, authority, version, curve):
    context = server_context(authority.issue_cert(HOST))
    context.maximum_version = version
    if curve != "X25519":  # the first choice of OpenSSL, which Python 3.11.2 cannot name
        context.set_ecdh_curve(curve)
    assert (await attempt(executor, await receive(ssl=context))).kind == "succeeded"


def hello(group, *, before=b"", size=None):
    """A record in which a server asks for another group, as TLS 1.3 has it."""
    extensions = struct.pack(">HHHHHH", 43, 2, 0x0304, 51, 2, group)
    body = b"\x03\x03" + RETRY + b"\x00" + b"\x13\x01" + b"\x00"
    body += len(extensions).to_bytes(2) + extensions
    message = b"\x02" + len(body).to_bytes(3) + body
    pieces = [message[at : at + size] for at in range(0, len(message), size)] if size else [message]
    return before + b"".join(b"\x16\x03\x03" + len(piece).to_bytes(2) + piece for piece in pieces)


WARNING = b"\x15\x03\x03\x00\x02\x01\x70"  # unrecognized name
HELLO_REQUEST = b"\x16\x03\x03\x00\x04\x00\x00\x00\x00"
CHANGE_CIPHER = b"\x14\x03\x03\x00\x01\x01"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (hello(0x0104), "Diffie-Hellman over a finite field"),
        (hello(0x0100, before=WARNING), "Diffie-Hellman over a finite field"),
        (hello(0x0104, size=20), "in pieces"),
        (hello(0x0104, before=HELLO_REQUEST), "something else before its hello"),
        (hello(0x0104, before=CHANGE_CIPHER), "something else before its hello"),
        (WARNING * 100, "too many alerts before its hello"),
        (b"\x16\x03\x03\xff\xff", "a record that is too large"),
    ],
    ids=[
        *("ffdhe8192", "after a warning", "in pieces", "after a request", "after a change"),
        *("a flood of alerts", "a large record"),
    ],
)
async def test_a_receiver_that_asks_for_a_slow_group_is_hung_up_on(executor, receive, sent, words):
    receiver = await receive(sends(sent, then_close=False), rash=True)
    outcome = await attempt(executor, receiver)
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert words in outcome.error


async def test_a_receiver_with_a_flood_of_certificates_is_hung_up_on(
    executor, receive, authority, tmp_path
):
    """OpenSSL takes 100 KB of them, which held the loop for 80 ms in each handshake."""
    certificate = authority.issue_cert(HOST)
    chain = tmp_path / "chain.pem"
    for count, kind in ((10, "succeeded"), (100, "failed")):
        context = server_context(certificate)
        certificate.private_key_pem.write_to_path(chain)
        for pem in (certificate.cert_chain_pems[0], *[authority.cert_pem] * count):
            pem.write_to_path(chain, append=True)
        context.load_cert_chain(chain)
        outcome = await attempt(executor, await receive(ssl=context, rash=True))
        assert outcome.kind == kind, outcome.error
    assert "sends more than 32 KiB in its handshake" in outcome.error


def test_a_hello_is_judged_once_it_is_complete():
    slow, quick = hello(0x0104, before=WARNING), hello(0x0017)
    for end in range(1, len(slow)):
        if end == len(WARNING):
            assert not is_harmless(slow[:end])
        else:
            with pytest.raises(ssl.SSLWantReadError):
                is_harmless(slow[:end])
    with pytest.raises(ssl.SSLError, match="finite field"):
        is_harmless(slow)
    assert is_harmless(quick)
    assert is_harmless(b"HTTP/1.1 400 Bad Request")  # OpenSSL says what is wrong with it
    assert not is_harmless(b"")


async def test_handshakes_are_counted_by_project(make_executor, receive, authority, monkeypatch):
    monkeypatch.setattr(wire, "HANDSHAKE_LIMIT", 100.0)  # not what ends it here, under any load
    names = Names(secure_test=["127.0.0.1"], stalls_test=["127.0.0.1"])
    trusts = partial(trusting, authority)
    executor = make_executor(make_context=trusts, resolver=names, per_host=100)
    receiver = await receive(ssl=server_context(authority.issue_cert(HOST)))
    begun, ended = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def stall(reader, writer):
        with contextlib.suppress(OSError):
            await reader.read(1)  # the client's hello
            begun.release()
            await reader.read()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        ended.release()

    server = await asyncio.start_server(stall, "127.0.0.1", 0)

    def send(host, port, project):
        target = Http(f"https://{host}:{port}/", timeout="100s")
        claim = a_claim(target, policies={"project": project})
        return asyncio.create_task(executor.run(claim))

    async with server:
        port = server.sockets[0].getsockname()[1]
        held = [send("stalls.test", port, "noisy") for _ in range(wire.MOST_HANDSHAKES)]
        for _ in held:
            await begun.acquire()
        waiting = send(HOST, receiver.port, "noisy")
        outcomes = await asyncio.gather(*(send(HOST, receiver.port, "quiet") for _ in range(5)))
        assert {outcome.kind for outcome in outcomes} == {"succeeded"}
        assert not waiting.done()
        held.pop().cancel()
        assert (await waiting).kind == "succeeded"
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        for _ in range(wire.MOST_HANDSHAKES):
            await ended.acquire()
