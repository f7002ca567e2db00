"""Keys of client certificates: those that cost an event loop too much are refused."""

import pytest
import trustme

from tests.executors.http.der import explicit, integer, name, octets, pem, sequence
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.trigger import OnDemand
from tickwell.errors import InvalidJob
from tickwell.executors.http.tls.client_key import Unusable, checked_pem
from tickwell.services.jobs.admission import check_certificate

RSA, RSA_PSS, DSA = "1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10", "1.2.840.10040.4.1"
EC, ED25519 = "1.2.840.10045.2.1", "1.3.101.112"
P256, SECT571 = "1.2.840.10045.3.1.7", "1.3.132.0.39"
CERTIFICATE = pem("CERTIFICATE", sequence())


def rsa(bits, *, prime=None, private=None, version=0):
    """Not a real key, but one of this size."""
    large, small = 1 << (private or bits) - 1, 1 << (prime or bits // 2) - 1
    numbers = (version, 1 << bits - 1, 65537, large, small, small, small, small, small)
    return sequence(*map(integer, numbers))


def ec(curve):
    return sequence(integer(1), octets(b"\1" * 32), explicit(0, curve))


def pkcs8(kind, parameters, key):
    return pem("PRIVATE KEY", sequence(integer(0), sequence(name(kind), parameters), octets(key)))


def shown(key):
    return key + CERTIFICATE


GOOD = {
    "RSA": pem("RSA PRIVATE KEY", rsa(4096)),
    "RSA, PKCS 8": pkcs8(RSA, b"\5\0", rsa(4096)),
    "RSA-PSS": pkcs8(RSA_PSS, b"", rsa(2048)),
    "EC": pem("EC PRIVATE KEY", ec(name(P256))),
    "EC, PKCS 8": pkcs8(EC, name(P256), ec(name(P256))),
    "Ed25519": pkcs8(ED25519, b"", octets(b"\1" * 32)),
}
BAD = {
    "RSA of 4,104 bits": (pem("RSA PRIVATE KEY", rsa(4104)), "has 4,104 bits"),
    "RSA of 16,384 bits": (pem("RSA PRIVATE KEY", rsa(16384)), "has 16,384 bits"),
    "RSA of 16,384 bits, PKCS 8": (pkcs8(RSA, b"\5\0", rsa(16384)), "has 16,384 bits"),
    "RSA-PSS of 16,384 bits": (pkcs8(RSA_PSS, b"", rsa(16384)), "has 16,384 bits"),
    "RSA with large primes": (pem("RSA PRIVATE KEY", rsa(2048, prime=16000)), "RSA up to 4,096"),
    "RSA with a large exponent": (pem("RSA PRIVATE KEY", rsa(2048, private=16000)), "RSA up to"),
    "RSA of many primes": (pem("RSA PRIVATE KEY", rsa(2048, version=1)), "RSA up to"),
    "RSA in part": (pem("RSA PRIVATE KEY", sequence(integer(0))), "cannot be read"),
    "another curve": (pkcs8(EC, name(SECT571), ec(name(SECT571))), "unknown curve"),
    "curve of its own": (pem("EC PRIVATE KEY", ec(sequence(integer(1)))), "unknown curve"),
    "no curve": (pem("EC PRIVATE KEY", sequence(integer(1))), "unknown curve"),
    "DSA": (pkcs8(DSA, b"", b""), "unknown kind"),
    "DSA of old": (pem("DSA PRIVATE KEY", sequence()), "unknown kind"),
    "encrypted": (pem("ENCRYPTED PRIVATE KEY", sequence()), "has a password"),
    "encrypted as of old": (
        pem("RSA PRIVATE KEY", b"").replace("\n", "\nProc-Type: 4,ENCRYPTED\n", 1),
        "has a password",
    ),
    "two keys": (GOOD["EC"] + GOOD["RSA"], "a certificate and its key"),
    "no key": ("", "a certificate and its key"),
    "cut": (pem("RSA PRIVATE KEY", rsa(2048)[:100]), "cannot be read"),
    "nothing": (pem("PRIVATE KEY", b""), "cannot be read"),
    "not base64": (GOOD["EC"].replace("-----\n", "-----\n*", 1), "is not PEM"),
}


@pytest.mark.parametrize("key", GOOD.values(), ids=GOOD)
def test_usual_keys_are_taken(key):
    assert checked_pem("A text before it\n" + CERTIFICATE + key) == shown(key)


@pytest.mark.parametrize(("key", "words"), BAD.values(), ids=BAD)
def test_a_key_that_is_large_or_unknown_is_refused(key, words):
    with pytest.raises(Unusable, match=words):
        checked_pem(shown(key))


@pytest.mark.parametrize("kind", trustme.KeyType)
def test_real_keys_are_written_as_they_were(kind):
    found = trustme.CA().issue_cert("a.test", key_type=kind).private_key_and_cert_chain_pem.bytes()
    assert checked_pem(found.decode()).replace("\n", "") == found.decode().replace("\n", "")


def test_many_beginnings_are_read_in_one_pass():
    with pytest.raises(Unusable):
        checked_pem("-----BEGIN A-----\n" * 100_000)


def saved(certificate):
    target = Http("https://a.test/", certificate=certificate)
    check_certificate(Job(id="j", name="j", trigger=OnDemand(), target=target))


def test_a_certificate_that_could_not_be_shown_is_not_saved():
    saved(shown(GOOD["RSA"]))
    saved("{{secret.certificate}}")
    with pytest.raises(InvalidJob, match="certificate: cannot be used: its RSA key has 16,384"):
        saved(shown(BAD["RSA of 16,384 bits"][0]))
