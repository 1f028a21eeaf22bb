"""The web application: FastAPI around a `Served` model; the one import of FastAPI and of the Prometheus client.

    POST /predict      {"rows": [{"income": 17.4, …}]}  →  {"predictions": [{"prediction": …, "moved": […]}]}
    GET  /             a page to play with             POST /curve, /near   what it draws
    GET  /model        columns and rules as JSON       GET  /certificate, /card, /health, /metrics, /docs

A bad row is answered by 422 and the sentence that the command line would print; a body that is too large by 413, a
wrong token by 401, too many waiting rows by 503, a prediction that takes too long by 504.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from smilenn._version import __version__
from smilenn.errors import SmileError
from smilenn.service.batching import Batcher, Busy
from smilenn.service.rows import moved
from smilenn.service.served import Served, read_body, read_question, row_schema

OPEN = ("/health", "/", "/docs")  # answered without a token; the pages have no word of the model in them
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:"


@dataclass(frozen=True)
class Limits:
    """What one request may ask for."""

    body: int = 2**22  # bytes
    rows: int = 10_000
    seconds: float = 30.0


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


class Service:
    """The model that is served now, and what surrounds it; `replace` exchanges it between two requests."""

    def __init__(self, served: Served, limits: Limits) -> None:
        self.limits, self.metrics = limits, Metrics()
        self.replace(served)

    def replace(self, served: Served) -> None:
        """Serve another model from the next request on; those that wait are answered by the old one."""
        # one name for both, set at once: another thread exchanges them, and a row read by one model must not be
        # predicted by the other
        self._now = served, Batcher(served.predict, self.metrics.batch.observe)

    @property
    def served(self) -> Served:
        """The model that answers from now on."""
        return self._now[0]

    @property
    def batcher(self) -> Batcher:
        """Who gathers its rows."""
        return self._now[1]

    async def predict(self, request: Request) -> Response:
        """Answers for the rows of a request."""
        served, batcher = self._now
        model = served.estimator
        x = served.reader.read(read_body(await self.body(request), self.limits.rows))
        edges = moved(model.domain_, x)
        if any(edges):
            way = "raise" if model.outside_ == "raise" else "clamp"
            x = model.domain_.clamp(x, out_of_bounds=way)
            self.metrics.moved.inc(sum(map(bool, edges)))
        outputs = await asyncio.wait_for(batcher(x), self.limits.seconds)
        self.metrics.rows.inc(len(x))
        return _json({"predictions": served.answers.of(outputs, edges)})

    async def ask(self, request: Request, keys: set[str], answer: Callable[..., Any]) -> Response:
        """A question of the page, answered beside predictions."""
        data = read_question(await self.body(request), keys)
        found = await asyncio.wait_for(asyncio.to_thread(answer, **data), self.limits.seconds)
        return _json(found)

    async def body(self, request: Request) -> Any:
        """The JSON of a request, no more of it than allowed."""
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > self.limits.body:
                raise _TooLarge
        try:
            return json.loads(bytes(data), object_pairs_hook=_once)
        except SmileError:  # a sentence of ours, which is a ValueError too
            raise
        except (ValueError, RecursionError):
            raise _NoJson from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of a name that stands there twice nobody knows which one is meant."""
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        raise SmileError(f"{next(n for n in names if names.count(n) > 1)!r} stands twice in one object; give it once.")
    return out


class _TooLarge(Exception):
    pass


class _NoJson(Exception):
    pass


def _json(content: Any, status: int = 200) -> Response:
    return Response(json.dumps(content, ensure_ascii=False), status, media_type="application/json")


def _told(sentence: str, status: int) -> Response:
    return _json({"detail": sentence}, status)


def application(service: Service, token: str | None = None) -> FastAPI:
    """The application around a service."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.batcher.close()

    # FastAPI's own pages fetch scripts from the internet
    app = FastAPI(version=__version__, lifespan=life, docs_url=None, redoc_url=None)
    app.add_middleware(Guard, service=service, token=token)
    _answer_rows(app, service)
    _answer_page(app, service)
    _answer_papers(app, service)
    app.openapi = partial(_interface, app, service)  # in place of FastAPI's, which is made once
    return app


def _interface(app: FastAPI, service: Service) -> dict[str, Any]:
    """OpenAPI for the model that answers now, which may have been exchanged."""
    made = get_openapi(
        title=f"smilenn: {service.served.folder.name}",
        version=__version__,
        description="What is certified of the model that answers now: GET /certificate.",
        routes=app.routes,
    )
    rows = {"type": "array", "items": row_schema(service.served), "maxItems": service.limits.rows}
    schema = {"type": "object", "properties": {"rows": rows}, "required": ["rows"]}
    body = {"content": {"application/json": {"schema": schema}}, "required": True}
    made["paths"]["/predict"]["post"]["requestBody"] = body
    return made


class Guard:
    """Around every request: the token, errors as sentences, counts."""

    def __init__(self, app: ASGIApp, service: Service, token: str | None) -> None:
        self.app, self.service, self.token = app, service, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, path, status = time.perf_counter(), scope["path"], 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        await self._answer(scope, receive, watched)
        known = path if status != 404 else "other"
        self.service.metrics.requests.labels(known, str(status)).inc()
        self.service.metrics.seconds.labels(known).observe(time.perf_counter() - begun)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if self.token is not None and scope["path"] not in OPEN and not _knows(request, self.token):
            refused = _told("Send the token: Authorization: Bearer TOKEN.", 401)
            refused.headers["WWW-Authenticate"] = "Bearer"
            await refused(scope, receive, send)
            return

        refusal = await _refusal(self.app(scope, receive, send), self.service.limits)
        if refusal is not None:
            await refusal(scope, receive, send)


def _knows(request: Request, token: str) -> bool:
    given = request.headers.get("authorization", "")
    return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


async def _refusal(answered: Awaitable[None], limits: Limits) -> Response | None:
    """The sentence of what went wrong, with its status; None where a request was answered."""
    try:
        await answered
    except ClientDisconnect:  # nobody is there to be told
        return None
    except SmileError as error:
        return _told(str(error), 422)
    except _NoJson:
        return _told("The body is not JSON; send application/json.", 400)
    except _TooLarge:
        return _told(f"The body has more than {limits.body} bytes; send the rows in parts.", 413)
    except Busy:
        return _told("Too many rows are waiting; try again in a moment.", 503)
    except TimeoutError:
        return _told(f"This took more than {limits.seconds:g} seconds; send fewer rows.", 504)
    return None


def _answer_rows(app: FastAPI, service: Service) -> None:
    @app.post("/predict", summary="Predict rows, columns by name in their own units.")
    async def predict(request: Request) -> Response:
        return await service.predict(request)


def _answer_page(app: FastAPI, service: Service) -> None:
    own = files("smilenn.service")
    page, docs = (own.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", "docs.html"))

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def home() -> Response:
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    async def interface() -> Response:
        return HTMLResponse(docs, headers={"Content-Security-Policy": POLICY})

    @app.get("/model", summary="Columns, rules with their verdicts, and what is predicted.")
    async def model() -> Response:
        return _json(service.served.described())

    @app.post("/curve", summary="The output and its box along one feature.")
    async def curve(request: Request) -> Response:
        return await service.ask(request, {"row", "feature"}, service.served.curve)

    @app.post("/near", summary="The pair around a row that comes closest to breaking a rule.")
    async def near(request: Request) -> Response:
        return await service.ask(request, {"row", "number"}, service.served.near)


def _answer_papers(app: FastAPI, service: Service) -> None:
    @app.get("/certificate", summary="What was checked when the model was loaded, and what is assumed.")
    async def certificate() -> Response:
        return _json(service.served.certificate())

    @app.get("/card", response_class=PlainTextResponse, summary="The model card, Markdown.")
    async def card() -> Response:
        return PlainTextResponse(service.served.card, media_type="text/markdown")

    @app.get("/health", summary="Whether the service answers, and for which model.")
    async def health() -> Response:
        served = service.served
        return _json({"status": "ok", "model": served.folder.name, "digest": served.digest, "version": __version__})

    @app.get("/metrics", response_class=PlainTextResponse, summary="Counts for Prometheus.")
    async def metrics() -> Response:
        return Response(generate_latest(service.metrics.registry), media_type=CONTENT_TYPE_LATEST)


__all__ = ["Limits", "Service", "application"]
