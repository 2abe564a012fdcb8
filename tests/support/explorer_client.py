"""A browser without a browser: asks the explorer's application for its pages in this process."""

from __future__ import annotations

from urllib.parse import urlencode

import httpx

from dialgauge import Store
from dialgauge.explorer import create_app
from support.event_loop import completed


class Client:
    """Asks an application as a browser would."""

    def __init__(self, store: Store) -> None:
        self.app = create_app(store)

    def get(self, address: str) -> httpx.Response:
        """What an address answers."""
        return completed(self._asked("GET", address))

    def post(self, address: str, **form: str) -> httpx.Response:
        """What is answered to a form."""
        return completed(self._asked("POST", address, urlencode(form)))

    async def _asked(self, method: str, address: str, content: str = "") -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, address, content=content)
