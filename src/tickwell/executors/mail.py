"""Mail: the handler that sends what channels for e-mail are sent."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from email.message import EmailMessage
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit

from tickwell.domain.alert.destination import MAIL_HANDLER
from tickwell.domain.current import CURRENT_CLAIM
from tickwell.domain.sender import is_sender
from tickwell.errors import InvalidSetting
from tickwell.executors.handlers import Handler, Handlers
from tickwell.executors.run import GiveUp
from tickwell.settings import SMTP_PORTS, Settings

#: Seconds for each answer of the server.
TIMEOUT = 30.0
#: Replies from here on say that another attempt would be refused as well.
_FOR_GOOD = 500


class Mailer:
    """Sends by one SMTP server, with TLS unless its address says otherwise."""

    def __init__(
        self,
        url: str,
        sender: str,
        make_context: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        self._url = urlsplit(url)
        self._sender = sender
        self._make_context = make_context

    async def send(self, to: str, subject: str, text: str) -> dict[str, str]:
        """Send one message; the answer names recipients that the server refused."""
        from aiosmtplib import SMTPRecipientsRefused, SMTPResponseException, send  # noqa: PLC0415

        claim = CURRENT_CLAIM.get()
        if claim is None or not is_sender(claim.job):
            raise GiveUp("only channels send mail: tickwell alerts channels add NAME --kind email")
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self._sender, to, subject
        # The same for all attempts: what arrives twice is shown once.
        message["Message-ID"] = f"<{claim.id}@{self._sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        url = self._url
        is_plain = url.scheme == "smtp+plain"
        try:
            refused, _ = await send(
                message,
                hostname=url.hostname,
                port=url.port or SMTP_PORTS[url.scheme],
                username=unquote(url.username) if url.username else None,
                password=unquote(url.password) if url.password else None,
                use_tls=url.scheme == "smtps",
                start_tls=url.scheme == "smtp",
                tls_context=None if is_plain else self._make_context(),
                timeout=TIMEOUT,
            )
        except SMTPResponseException as error:
            if error.code >= _FOR_GOOD:
                raise GiveUp(f"SMTP {error.code} {error.message}") from error
            raise
        except SMTPRecipientsRefused as error:
            replies = [f"{each.recipient}: {each.code} {each.message}" for each in error.recipients]
            if all(each.code >= _FOR_GOOD for each in error.recipients):
                raise GiveUp(f"SMTP refused {'; '.join(replies)}") from error
            raise
        return {address: f"{reply.code} {reply.message}" for address, reply in refused.items()}


def add_mail(handlers: Handlers, settings: Settings) -> None:
    """Let the worker of this process send mail for channels of all projects."""
    if find_spec("aiosmtplib") is None:
        raise InvalidSetting(
            "aiosmtplib is not installed",
            field="smtp",
            hint="Install it: pip install 'tickwell[email]'",
        )
    if handlers.find(MAIL_HANDLER, handlers.project) is None:
        mailer = Mailer(settings.smtp, settings.smtp_from)
        handlers.register(Handler(MAIL_HANDLER, mailer.send, shared=True))
