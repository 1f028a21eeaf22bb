"""Around every request: the token, errors as sentences, counts.

Nothing that goes wrong ends without an answer in JSON, and every request is counted, however it ends. A path that is no
address of the service is counted as ``other``: whoever asks must not decide how many counters there are.
"""

from __future__ import annotations

import hmac
import json
import logging
import time
from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from smilenn.errors import SmileError
from smilenn.service.batching import Busy

OPEN = ("/health", "/", "/docs")  # answered without a token; the pages have no word of the model in them
OTHER = "other"  # the label of every path that is no address of the service
LOG = logging.getLogger("uvicorn.error")


@dataclass(frozen=True)
class Limits:
    """What one request may ask for."""

    body: int = 2**22  # bytes
    rows: int = 10_000
    seconds: float = 30.0  # for the body, and then for the prediction


class Metrics:
    """What `/metrics` counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("smilenn_requests", "Requests.", ["path", "status"], registry=self.registry)
        self.seconds = Histogram("smilenn_request_seconds", "Time to an answer.", ["path"], registry=self.registry)
        self.rows = Counter("smilenn_rows", "Rows predicted.", registry=self.registry)
        self.moved = Counter("smilenn_rows_moved", "Rows moved to the edge of the domain.", registry=self.registry)
        self.batch = Histogram(
            "smilenn_batch_rows", "Rows of a batch.", buckets=[4.0**k for k in range(7)], registry=self.registry
        )


class TooLargeError(Exception):
    """The body has more bytes than allowed."""


class NoJsonError(Exception):
    """The body is not JSON."""


class LateError(Exception):
    """The body did not arrive in time."""


def as_json(content: Any, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(json.dumps(content, ensure_ascii=False), status, media_type="application/json")


def _told(sentence: str, status: int, **headers: str) -> Response:
    answer = as_json({"detail": sentence}, status)
    answer.headers.update(headers)
    return answer


class Guard:
    """The outermost layer of the application; `paths` are its addresses."""

    def __init__(
        self, app: ASGIApp, limits: Limits, metrics: Metrics, token: str | None, paths: Collection[str]
    ) -> None:
        self.app, self.limits, self.metrics, self.token, self.paths = app, limits, metrics, token, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            refusal = await self._refusal(scope, receive, watched)
            if refusal is not None and not status:
                await refusal(scope, receive, watched)
        finally:
            path = scope["path"] if scope["path"] in self.paths else OTHER
            self.metrics.requests.labels(path, str(status or 499)).inc()  # 499: the caller has gone
            self.metrics.seconds.labels(path).observe(time.perf_counter() - begun)

    async def _refusal(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """What to answer instead; None where the application has answered."""
        if self.token is not None and scope["path"] not in OPEN and not _knows(Request(scope), self.token):
            return _told("Send the token: Authorization: Bearer TOKEN.", 401, **{"WWW-Authenticate": "Bearer"})
        try:
            return await _sentence(self.app(scope, receive, send), self.limits)
        except ClientDisconnect:  # nobody is there to be told
            return None
        except Exception:
            LOG.exception("A request to %s failed.", scope["path"])
            return _told("The service failed on this request; its log has the reason.", 500)


def _knows(request: Request, token: str) -> bool:
    given = request.headers.get("authorization", "")
    return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


async def _sentence(answered: Awaitable[None], limits: Limits) -> Response | None:
    """The sentence of what went wrong, with its status; None where a request was answered."""
    try:
        await answered
    except SmileError as error:
        return _told(str(error), 422)
    except NoJsonError:
        return _told("The body is not JSON; send application/json.", 400)
    except LateError:  # the rest of the body would be taken for the next request
        return _told(
            f"The body did not arrive within {limits.seconds:g} seconds; send it at once.", 408, Connection="close"
        )
    except TooLargeError:
        return _told(f"The body has more than {limits.body} bytes; send the rows in parts.", 413, Connection="close")
    except Busy:
        return _told("Too many rows are waiting; try again in a moment.", 503)
    except TimeoutError:
        return _told(f"This took more than {limits.seconds:g} seconds; send fewer rows.", 504)
    return None
