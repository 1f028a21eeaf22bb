"""The web application: FastAPI around a `Served` model; the one import of FastAPI.

    POST /predict      {"rows": [{"income": 17.4, …}]}  →  {"predictions": [{"prediction": …, "moved": […]}]}
    GET  /             a page to play with             POST /curve, /near   what it draws
    GET  /model        columns and rules as JSON       GET  /certificate, /card, /health, /metrics, /docs

A bad row is answered by 422 and the sentence that the command line would print; `guard` has the other refusals.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.routing import Route

from smilenn._version import __version__
from smilenn.errors import SmileError
from smilenn.service.batching import Batcher
from smilenn.service.guard import Guard, LateError, Limits, Metrics, NoJsonError, TooLargeError, as_json
from smilenn.service.interface import described
from smilenn.service.rows import moved
from smilenn.service.served import Served, read_body, read_question

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:"


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
        return as_json({"predictions": served.answers.of(outputs, edges)})

    async def ask(self, request: Request, keys: set[str], answer: Callable[..., Any]) -> Response:
        """A question of the page, answered beside predictions."""
        data = read_question(await self.body(request), keys)
        found = await asyncio.wait_for(asyncio.to_thread(answer, **data), self.limits.seconds)
        return as_json(found)

    async def body(self, request: Request) -> Any:
        """The JSON of a request, no more of it than allowed."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                data = await self._bytes(request)
        except TimeoutError:
            raise LateError from None
        try:
            return json.loads(data, object_pairs_hook=_once, parse_int=_whole)
        except SmileError:  # a sentence of ours, which is a ValueError too
            raise
        except (ValueError, RecursionError):
            raise NoJsonError from None

    async def _bytes(self, request: Request) -> bytes:
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > self.limits.body:
                raise TooLargeError
        return bytes(data)


def _whole(digits: str) -> int | float:
    """A whole number of JSON; infinite where no float64 is near it, so that its cell is refused by name."""
    near = float(digits)
    return int(digits) if math.isfinite(near) else near


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of a name that stands there twice nobody knows which one is meant."""
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        raise SmileError(f"{next(n for n in names if names.count(n) > 1)!r} stands twice in one object; give it once.")
    return out


def application(service: Service, token: str | None = None) -> FastAPI:
    """The application around a service."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.batcher.close()

    # FastAPI's own pages fetch scripts from the internet
    app = FastAPI(version=__version__, lifespan=life, docs_url=None, redoc_url=None)
    _answer_rows(app, service)
    _answer_page(app, service)
    _answer_papers(app, service)
    paths = frozenset(route.path for route in app.routes if isinstance(route, Route))
    app.add_middleware(Guard, limits=service.limits, metrics=service.metrics, token=token, paths=paths)
    app.openapi = partial(_interface, app, service, token is not None)  # in place of FastAPI's, which is made once
    return app


def _interface(app: FastAPI, service: Service, token: bool) -> dict[str, Any]:
    """OpenAPI for the model that answers now, which may have been exchanged."""
    made = get_openapi(
        title=f"smilenn: {service.served.folder.name}",
        version=__version__,
        description="What is certified of the model that answers now: GET /certificate.",
        routes=app.routes,
    )
    return described(made, service.served, service.limits, token)


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
        return as_json(service.served.described())

    @app.post("/curve", summary="The output and its box along one feature.")
    async def curve(request: Request) -> Response:
        return await service.ask(request, {"row", "feature"}, service.served.curve)

    @app.post("/near", summary="The pair around a row that comes closest to breaking a rule.")
    async def near(request: Request) -> Response:
        return await service.ask(request, {"row", "number"}, service.served.near)


def _answer_papers(app: FastAPI, service: Service) -> None:
    @app.get("/certificate", summary="What was checked when the model was loaded, and what is assumed.")
    async def certificate() -> Response:
        return as_json(service.served.certificate())

    @app.get("/card", response_class=PlainTextResponse, summary="The model card, Markdown.")
    async def card() -> Response:
        return PlainTextResponse(service.served.card, media_type="text/markdown")

    @app.get("/health", summary="Whether the service answers, and for which model.")
    async def health() -> Response:
        served = service.served
        return as_json({"status": "ok", "model": served.folder.name, "digest": served.digest, "version": __version__})

    @app.get("/metrics", response_class=PlainTextResponse, summary="Counts for Prometheus.")
    async def metrics() -> Response:
        return Response(generate_latest(service.metrics.registry), media_type=CONTENT_TYPE_LATEST)


__all__ = ["Limits", "Service", "application"]
