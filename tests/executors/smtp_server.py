"""An SMTP server that offers TLS and a login, and keeps what it is sent."""

import asyncio
import base64
from dataclasses import dataclass, field
from typing import Any

from tests.proxy.listener import stop_listening


@dataclass
class SmtpServer:
    context: Any
    #: TLS from the first byte, as smtps:// has it.
    is_wrapped: bool = False
    login: str = "user:pass/word"
    #: What it answers to RCPT, by address.
    replies: dict[str, str] = field(default_factory=dict)
    port: int = 0
    #: What was said after TLS began, and messages as they came.
    commands: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    async def __aenter__(self):
        context = self.context if self.is_wrapped else None
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        self._ended = []
        return self

    async def __aexit__(self, *_):
        await stop_listening(self._server)
        await asyncio.gather(*(each.wait() for each in self._ended))

    async def _serve(self, reader, writer):
        self._ended.append(ended := asyncio.Event())
        try:
            await self._talk(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            ended.set()

    async def _talk(self, reader, writer):
        is_safe = self.is_wrapped
        writer.write(b"220 ready\r\n")
        while line := (await reader.readline()).decode().strip():
            verb = line.upper()
            self.commands.append(line)
            if verb.startswith("EHLO"):
                offers = "AUTH PLAIN" if is_safe else "STARTTLS"
                writer.write(f"250-here\r\n250 {offers}\r\n".encode())
            elif verb == "STARTTLS":
                writer.write(b"220 go\r\n")
                await writer.drain()
                await writer.start_tls(self.context)
                is_safe = True
                self.commands.clear()
            elif verb.startswith("AUTH PLAIN"):
                _, user, password = base64.b64decode(line.split()[2]).decode().split("\0")
                is_known = f"{user}:{password}" == self.login
                writer.write(b"235 ok\r\n" if is_known else b"535 bad credentials\r\n")
            elif verb.startswith("RCPT"):
                address = line.partition("<")[2].rstrip(">")
                writer.write(f"{self.replies.get(address, '250 ok')}\r\n".encode())
            elif verb == "DATA":
                writer.write(b"354 send\r\n")
                text = (await reader.readuntil(b"\r\n.\r\n")).decode()
                self.messages.append(text)
                writer.write(b"250 taken\r\n")
            else:
                writer.write(b"221 bye\r\n" if verb == "QUIT" else b"250 ok\r\n")
            await writer.drain()
