"""Ten digits on MNIST (quick: 8×8 digits), robust in the maximum norm and in the Euclidean norm.

Claim of the SMiLE columns: no two images within δ have margins between two classes that differ by more than ε. A test
image is certified at δ if it is classified rightly and its certified radius is δ or more. That is one statement for all
images, and no image is verified by itself. CROWN-IBP verifies the images one by one. All test images
count, those of the class that fares worst beside them. There is a model for each norm and each δ to be trained for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from smilenn.baselines.crown_ibp import Ramp
from smilenn.baselines.crown_ibp_classes import convolutions, fit_class_bounds, verify_classes
from smilenn.baselines.descent import Descent
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.digits import LARGEST_PIXEL
from smilenn.datasets.mnist import fetch_mnist
from smilenn.datasets.prepare import Prepared
from smilenn.domain import Domain
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.options import Network
from smilenn.estimators.radius import Norm
from smilenn.experiments.cells import Cell, Row
from smilenn.experiments.measures import chosen, mean, proved
from smilenn.experiments.recipe import obtained
from smilenn.experiments.study import Aim, Options, all_certified, outcome
from smilenn.experiments.tables import markdown, mean_and_spread, seconds
from smilenn.properties.library import Robust
from smilenn.train.config import Config

# model → its norm, and for each δ that it is trained for those that are certified along with it
TRAINED: dict[str, tuple[Norm, dict[float, tuple[float, ...]]]] = {
    "ten-distances": ("inf", {0.1: (0.1,), 0.3: (0.3, 0.1)}),
    "ten-contractions": (2, {0.3: (0.3,), 1.58: (1.58, 0.3)}),
}
LOCAL = "ten-crown-ibp"
MODELS = (*TRAINED, LOCAL)
JUDGED: dict[Norm, tuple[float, ...]] = {"inf": (0.1, 0.2, 0.3), 2: (0.3, 1.58)}
TITLE = {"ten-distances": "SMiLE, distances", "ten-contractions": "SMiLE, contractions", LOCAL: "CROWN-IBP, ours"}
# per cent of all test images of MNIST, as their authors print them, certified image by image: by the δ of a network of
# its own, clean (None where it was not looked up) and certified. SortNet: arXiv 2210.01787 and the training logs of its
# repository; l∞-distance nets: arXiv 2110.06850 and README of L_inf-dist-net-v2; CROWN-IBP: arXiv 1906.06316, abstract
PUBLISHED: dict[Norm, dict[str, dict[float, tuple[float | None, float]]]] = {
    "inf": {
        "SortNet": {0.1: (99.01, 98.14), 0.3: (98.46, 93.40)},
        "l∞-distance nets": {0.1: (98.93, 97.95), 0.3: (98.56, 93.20)},
        "CROWN-IBP": {0.3: (None, 92.98)},
    },
    2: {"GloRo": {0.3: (None, 95.7), 1.58: (None, 62.8)}},
}
# model, the δ it is trained for, metric, per cent of all test images of MNIST that are wanted of a GPU, of a processor
WANTED = (
    ("ten-distances", 0.1, "clean", 98.6, None),
    ("ten-distances", 0.1, "certified_0.1", 97.9, 94.0),
    ("ten-distances", 0.3, "certified_0.3", 93.0, 84.0),
    ("ten-contractions", 0.3, "certified_0.3", 98.0, 96.8),
    ("ten-contractions", 1.58, "certified_1.58", 72.0, None),
)
QUICK: dict[Norm, Config] = {
    "inf": Config(patience=None, epochs=10, batch_size=64, train_learning_rate=0.02, margin=0.6),
    2: Config(patience=None, epochs=6, batch_size=64, train_learning_rate=3e-3, margin=0.8),
}
# our CROWN-IBP: channels of its two convolutions, units, and a schedule that a processor goes through in minutes
CHANNELS, HIDDEN = (8, 16), 128
LOCAL_EPOCHS, LOCAL_RATE, SETTLE = {False: 16, True: 60}, 2e-3, 0.6
RAMP = Ramp(warm=0.02, ramped=0.5, kappa=0.0, beta=0.0, faded=0.08)


def cells(options: Options) -> list[Cell]:
    """Models × δ × seeds; the first δ of each alone where it is to be quick."""
    seeds = options.seeds or ((0,) if options.quick else (0, 1, 2))
    trained = {model: tuple(deltas) for model, (_, deltas) in TRAINED.items()} | {LOCAL: (0.1, 0.3)}
    return [
        {"model": model, "delta": delta, "seed": seed, "quick": options.quick}
        for seed in seeds
        for model in MODELS
        for delta in (trained[model][:1] if options.quick else trained[model])
    ]


def compute(model: str, seed: int, quick: bool, delta: float, *, options: Options) -> list[Row]:
    """One cell: clean and certified accuracy at every δ of its norm, the least of a class, status, seconds."""
    (x, y), (x_test, y_test) = data = images(quick, options)
    row: Row = {"model": model, "seed": seed, "delta": delta, "data": "digits" if quick else "mnist"}
    row |= {"device": options.device}
    begun = time.perf_counter()
    if model == LOCAL:
        net = _local(data, delta, seed, quick, options.device)
        took = time.perf_counter() - begun
        found = _shares(lambda at: verify_classes(net, x_test, y_test, at), y_test, "inf")
        return [row | {"norm": "inf", "status": "none", "seconds": took} | found]
    unfitted = fresh(model, delta, seed, quick, options.device)
    estimator, took = obtained(unfitted, options, name_of(model, delta, seed), x, y)
    assert isinstance(estimator, SmileClassifier)
    return [row | {"seconds": took, **judged(estimator, model, estimator.outputs(x_test), y_test)}]


def name_of(model: str, delta: float, seed: int) -> str:
    """What the model folder of a cell is called."""
    return f"robustness-{model}-{delta}-{seed}"


def fresh(model: str, delta: float, seed: int, quick: bool, device: str) -> SmileClassifier:
    """The estimator of a cell, not fitted yet."""
    norm, deltas = TRAINED[model]
    return SmileClassifier(
        properties=[Robust(str(one), norm=norm) for one in deltas[delta]],
        domain=_box(64 if quick else 784),
        network=Network(encoder="image", device=device),
        config=QUICK[norm] if quick else None,
        validation_fraction=0.0,
        random_state=seed,
        out_of_bounds="clamp",
    )


def judged(estimator: SmileClassifier, model: str, logits: np.ndarray, y: np.ndarray) -> Row:
    """What a fitted model does on test images, from its logits [n, o] and their digits y [n]; its norm and status."""
    norm = TRAINED[model][0]
    right, radius, accepted = estimator.decided(logits) == y, estimator.radius(logits, norm), estimator.accepted(logits)
    assert radius is not None and accepted is not None
    found = _shares(lambda at: (right, radius >= at), y, norm)
    found |= {"accepted": float(accepted.mean()), "accepted_right": float(right[accepted].mean())}
    return {"norm": norm, **outcome(estimator.verdict_)} | found


def _shares(judged: Callable[[float], tuple[np.ndarray, np.ndarray]], y: np.ndarray, norm: Norm) -> Row:
    """Clean accuracy, and for each δ the certified accuracy and that of the class that fares worst."""
    out: Row = {}
    for at in JUDGED[norm]:
        right, verified = judged(at)
        both = right & verified
        out |= {"clean": float(right.mean()), f"certified_{at:g}": float(both.mean())}
        out[f"least_{at:g}"] = float(min(both[y == c].mean() for c in np.unique(y)))
    return out


Part = tuple[np.ndarray, np.ndarray]


def images(quick: bool, options: Options) -> tuple[Part, Part]:
    """Training and test images as pixels from 0 to 1, with their digits."""
    return _digits() if quick else _mnist(options)


def _mnist(options: Options) -> tuple[Part, Part]:
    parts = [fetch_mnist(part, options.data_dir) for part in ("train", "test")]
    first, second = ((part.floats(np.float64), part.labels.astype(np.int64)) for part in parts)
    return first, second


def _digits() -> tuple[Part, Part]:
    from sklearn.datasets import load_digits  # slow to import, and only this needs it

    pixels, digits = load_digits(return_X_y=True)
    x, y = np.asarray(pixels, dtype=np.float64) / LARGEST_PIXEL, np.asarray(digits)
    test = np.random.default_rng(0).permutation(len(x))[: len(x) // 5]
    kept = np.setdiff1d(np.arange(len(x)), test)
    return (x[kept], y[kept]), (x[test], y[test])


def _box(size: int) -> Domain:
    return Domain.box([0.0] * size, [1.0] * size, [f"p{i}" for i in range(size)])


def _local(data: tuple[Part, Part], delta: float, seed: int, quick: bool, device: str) -> ScaledModule:
    """Our CROWN-IBP; a tenth of the training images choose its epoch."""
    (x, y), (x_test, y_test) = data
    held, kept = np.split(np.random.default_rng(seed).permutation(len(x)), [len(x) // 10])
    prepared = Prepared(_box(x.shape[1]), x[kept], y[kept], x[held], y[held], x_test, y_test)
    descent = Descent(LOCAL_EPOCHS[quick], 64, LOCAL_RATE, seed, device, settle=SETTLE)
    return fit_class_bounds(prepared, delta, convolutions(*CHANNELS), HIDDEN, 10, ramp=RAMP, descent=descent)


def report(rows: list[Row]) -> list[str]:
    """A table for each norm, the published figures in it; then what rejection does."""
    rows = [row for row in rows if row["model"] in MODELS]
    if not rows:
        return []
    parts = ["## Ten classes", "Per cent of all test images, mean ± standard deviation over seeds."]
    words: dict[Norm, str] = {"inf": "Maximum norm:", 2: "Euclidean norm:"}
    for norm, title in words.items():
        parts += [title, markdown(_header(norm), [*_published(norm), *_measured(rows, norm)])]
    return parts + _rejection([row for row in rows if row.get("accepted") is not None])


def aims(rows: list[Row]) -> list[Aim]:
    """What networks of a GPU and of a processor are asked to show on MNIST, each the mean over its seeds, and that all
    of them are certified.
    """
    rows = [row for row in rows if row["model"] in TRAINED and row["data"] == "mnist"]
    out = all_certified(rows, TRAINED)
    for model, delta, metric, of_gpu, of_processor in WANTED:
        group = chosen(rows, model=model, delta=delta)
        for where, wanted in (("GPU", of_gpu), ("processor", of_processor)):
            own = [row for row in group if (row["device"] == "cpu") == (where == "processor")]
            if own and wanted is not None:
                got = 100 * mean(own, metric)
                what = f"{TITLE[model]}, {where}, trained for {delta:g}: {metric.replace('_', ' at ')}"
                out.append(Aim(what, f"≥ {wanted:.2f}", f"{got:.2f}", got >= wanted))
    return out


def _rejection(rows: list[Row]) -> list[str]:
    """How many images are answered when those near a decision are not, and how many of these answers are right."""
    groups = {
        (model, delta, device): chosen(rows, model=model, delta=delta, device=device)
        for model, (_, deltas) in TRAINED.items()
        for delta in deltas
        for device in sorted({row["device"] for row in rows})
    }
    lines = [
        [
            TITLE[model],
            f"{delta:g}",
            *(mean_and_spread(group, name, 2, 100.0) for name in ("accepted", "accepted_right")),
            device,
        ]
        for (model, delta, device), group in groups.items()
        if group
    ]
    said = "Rejection: no two images within the largest δ of a model get two different answers."
    return (
        [said, markdown(["model", "trained for δ", "accepted", "right among accepted", "device"], lines)]
        if lines
        else []
    )


def _header(norm: Norm) -> list[str]:
    each = [text for at in JUDGED[norm] for text in (f"certified at {at:g}", "least class")]
    return ["model", "trained for δ", "clean", *each, "certified by the checker", "seconds", "device"]


def _published(norm: Norm) -> list[list[str]]:
    """A line for each network: what its authors certify at the δ that it is trained for."""
    lines = []
    for name, networks in PUBLISHED[norm].items():
        for delta, (clean, certified) in networks.items():
            each = [text for at in JUDGED[norm] for text in (f"{certified:.2f}" if at == delta else "–", "–")]
            shown = "–" if clean is None else f"{clean:.2f}"
            lines.append([f"*{name}, published*", f"{delta:g}", shown, *each, "–", "–", "–"])
    return lines


def _measured(rows: list[Row], norm: Norm) -> list[list[str]]:
    names = ["clean", *(f"{kind}_{at:g}" for at in JUDGED[norm] for kind in ("certified", "least"))]
    own = {(row["model"], row["delta"], row["device"]) for row in chosen(rows, norm=norm)}
    lines = []
    for model, delta, device in sorted(own, key=lambda key: (MODELS.index(key[0]), *key[1:])):
        group = chosen(rows, model=model, norm=norm, delta=delta, device=device)
        values = [mean_and_spread(group, name, 2, 100.0) for name in names]
        lines.append([TITLE[model], f"{delta:g}", *values, proved(group)[1], seconds(group), device])
    return lines
