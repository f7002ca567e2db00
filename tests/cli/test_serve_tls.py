"""TLS by files: asked before anything starts, spoken when it is given."""

import pytest
import trustme

from tickwell.api.server import require_certificate
from tickwell.errors import InvalidSetting
from tickwell.settings import Settings


def test_a_certificate_and_its_key_can_be_used(tmp_path):
    made = trustme.CA().issue_cert("localhost")
    made.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    made.private_key_pem.write_to_path(tmp_path / "key.pem")
    settings = Settings(tls_cert=str(tmp_path / "cert.pem"), tls_key=str(tmp_path / "key.pem"))
    require_certificate(settings)


def test_files_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "cert.pem").write_text("nonsense")
    settings = Settings(tls_cert=str(tmp_path / "cert.pem"), tls_key=str(tmp_path / "none.pem"))
    with pytest.raises(InvalidSetting, match=r"cert\.pem and .*none\.pem cannot be used"):
        require_certificate(settings)


def test_one_without_the_other_is_refused():
    with pytest.raises(InvalidSetting, match="set together"):
        Settings(tls_cert="cert.pem")
