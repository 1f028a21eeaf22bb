"""Parameters of an estimator as a folder keeps them: JSON out, keyword arguments back.

Folders keep `network` and `domain` as objects of options. Those that 0.1 and early folders of format 2 wrote have every
option beside the parameters, ``certify_time_limit``, and ``protected``, whose ε stood behind the other rules. Later
ones have only ``restarts`` and ``device`` there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.options import Columns, Network, domain_of, network_of
from smilenn.estimators.rules import stated
from smilenn.model.encoders import Encoder
from smilenn.properties.unregistered import stated_properties
from smilenn.train.config import Config

# kept as they are; the others need words of their own, or are code or part of the network
PLAIN = (
    "increasing",
    "decreasing",
    "monotonic_cst",
    "out_of_bounds",
    "time_limit",
    "certify_limit",
    "validation_fraction",
    "missing",
    "unknown",
    "verbose",
    "random_state",
    "quantiles",
    "positive",
)
BESIDE = ("restarts", "device")  # options of the network that stood beside it
GIVEN = "given"  # an encoder of the user's own, which is part of the network


def to_json(estimator: SmileEstimator) -> dict[str, Any]:
    """The parameters, JSON-ready; a `Domain`, code and the properties are kept elsewhere."""
    params = estimator.get_params(deep=False)
    out: dict[str, Any] = {name: _plain(params[name]) for name in PLAIN if name in params}
    state = params["random_state"]
    out["random_state"] = int(state) if isinstance(state, (int, np.integer)) else None
    if "class_weight" in params:  # labels are not keys of JSON
        wanted = params["class_weight"]
        out["class_weight"] = (
            [[_plain(k), _plain(v)] for k, v in wanted.items()] if isinstance(wanted, dict) else wanted
        )
    out["monotonic_cst"] = _directions(params["monotonic_cst"])
    out["network"] = None if params["network"] is None else _network(network_of(params["network"]))
    domain = domain_of(params["domain"])
    out["domain"] = _plain(domain.get_params()) if isinstance(domain, Columns) and domain != Columns() else None
    out["config"] = None if params["config"] is None else asdict(params["config"])
    # the short forms are parameters of their own: only the properties that were listed are listed again
    out["listed_properties"] = len(stated(params["properties"]))
    return out


def from_json(kept: dict[str, Any], document: dict[str, Any], encoder: Encoder | None) -> dict[str, Any]:
    """Keyword arguments of the estimator; `document` is properties.json, `encoder` that of the network."""
    flat = "network" not in kept
    params: dict[str, Any] = {name: kept[name] for name in PLAIN if name in kept}
    for name in ("increasing", "decreasing"):
        if isinstance(params.get(name), list):
            params[name] = tuple(params[name])
    if isinstance(kept.get("monotonic_cst"), dict):
        params["monotonic_cst"] = dict(kept["monotonic_cst"]["columns"])
    if "class_weight" in kept:
        wanted = kept["class_weight"]
        params["class_weight"] = {key: value for key, value in wanted} if isinstance(wanted, list) else wanted
    if kept["config"] is not None:
        params["config"] = Config(**_known(kept["config"], Config))
    network, domain = (kept, kept) if flat else (kept["network"], kept["domain"])
    beside = {name: kept[name] for name in BESIDE if name in kept}
    params["network"] = _made({**beside, **(network or {})}, encoder)
    params["domain"] = None if domain is None else _or_none(Columns(**_known(domain, Columns)), Columns())
    params["properties"] = stated_properties(document)[: kept["listed_properties"]]
    return _unflattened(params, kept, document) if flat else params


def _unflattened(params: dict[str, Any], kept: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a folder without `network`: old names under their new ones."""
    if "certify_time_limit" in kept:
        params["certify_limit"] = kept["certify_time_limit"]
    if kept.get("protected"):  # its rules come last in the document: list them all, in their order
        added = 0 if kept.get("quantiles") is None else 1  # that quantiles are ordered adds itself
        every = stated_properties(document)
        params |= {"properties": every[: len(every) - added], "increasing": (), "decreasing": ()}
    return params


def _network(network: Network) -> dict[str, Any]:
    """Options that JSON can hold: not the backbone, and of an encoder only that there was one."""
    options = _plain({name: value for name, value in network.get_params().items() if name != "backbone"})
    return options | {"encoder": network.encoder if isinstance(network.encoder, str) else GIVEN}


def _made(options: Mapping[str, Any], encoder: Encoder | None) -> Network | None:
    """The network's options; None where all are the defaults."""
    known = _known(options, Network)
    if known.get("encoder") == GIVEN:
        known["encoder"] = "none" if encoder is None else encoder
    return _or_none(Network(**known), Network())


def _or_none(options: Any, default: Any) -> Any:
    return None if options == default else options


def _known(options: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """The fields of a dataclass; others belong to another version."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in options.items() if name in names}


def _directions(monotonic_cst: Any) -> Any:
    """Positions stay numbers: as keys of JSON they would be texts."""
    if isinstance(monotonic_cst, Mapping):
        return {"columns": [[_plain(key), int(value)] for key, value in monotonic_cst.items()]}
    return None if monotonic_cst is None else [int(value) for value in monotonic_cst]


def _plain(value: Any) -> Any:
    """Numbers, texts, lists and dictionaries that JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
