"""Whole training runs: what they end with, what they record, when they stop, what they refuse."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.progress import Progress
from smilenn.properties import Safe
from smilenn.provers.model import prove
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.reason import Reason, Why
from smilenn.train import clock, phases
from smilenn.train import fit as fit_module
from smilenn.train.fit import PLAIN_SHARE, Fit, fit
from smilenn.train.generator import Generator
from smilenn.train.health import DeadAuxiliaries
from smilenn.train.run import Run
from smilenn.verdict import Maximum, Proved

SHORT = {"settle_rounds": 3, "posttrain_rounds": 12, "dual_step": 0.05}


def safe_wave(make):
    """Monotone and bounded from above: a row on one copy beside a row on two."""
    case = make.wave().but(**SHORT)
    return replace(case, properties=(*case.properties, Safe(then=["out <= 2"])))


def cases(make):
    """name → (case, seed), one per kind of claim; each runs through all three phases."""
    return {
        "monotone": (make.wave().but(**SHORT), 1),
        "monotone, paper's boxes": (make.wave(boxes="paper").but(epochs=20, **SHORT), 1),
        "fair": (make.unfair().but(**SHORT), 0),
        "fair, paper's boxes": (make.unfair(boxes="paper").but(**SHORT), 0),
        "robust": (make.plane().but(**SHORT), 0),
        "robust, faithful": (make.plane(boxes="paper").but(feasible_start=False, **SHORT), 0),
        "lipschitz": (make.slopes().but(**SHORT), 0),
        "convex": (make.bowl().but(**SHORT), 0),
        "several": (make.several().but(**SHORT), 0),
        "safe too": (safe_wave(make), 1),
    }


NAMES = [
    "monotone",
    "monotone, paper's boxes",
    "fair",
    "fair, paper's boxes",
    "robust",
    "robust, faithful",
    "lipschitz",
    "convex",
    "several",
    "safe too",
]
SOME = ["monotone", "monotone, paper's boxes", "fair", "robust"]


@pytest.fixture(scope="module")
def fitted(make):
    """A finished run by name, trained once."""
    found: dict[str, tuple] = {}

    def one(name):
        if name not in found:
            case, seed = cases(make)[name]
            found[name] = case, case.fit(seed)
        return found[name]

    return one


# ---- proofs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_training_ends_proved(make, fitted, name):
    """By its own prover, by another one, and by brute force on the network itself."""
    case, result = fitted(name)
    assert isinstance(result.verdict, Proved), result.verdict.sentence()
    assert result.verdict.violation_bound == 0.0  # a bound of zero survives (the paper's listing overwrites it)
    assert not result.interrupted and not result.net.training
    phases_run = [record["phase"] for record in result.history]
    assert list(dict.fromkeys(phases_run)) == ["pretrain", "train", "posttrain"]
    assert result.history[-1]["bound"] <= 1e-6  # posttraining itself stopped at a proof
    again = prove(result.net, case.claims, prover="mip")
    assert isinstance(again, Proved) and again.bound <= 1e-6, again.sentence()
    nothing_found_by_sampling(make, case, result.net)


def nothing_found_by_sampling(make, case, net):
    for claim in case.claims:
        problem = build(claim, net.snapshot())
        u = make.members(problem, 3000, seed=7)
        x = problem.domain.unscale(u)
        f = net.predict(x.reshape(-1, x.shape[-1])).reshape(*x.shape[:2], -1)
        for row in problem.rows:
            left = np.einsum("bko,ko->b", f, row.outputs) + np.einsum("bkm,km->b", u, row.inputs) + row.input_const
            assert left.max() <= row.rhs + 1e-6
            assert problem.value(u, row).max() <= 1e-6  # nor in the box


def test_the_model_has_learned_something(fitted):
    for name, least in (("monotone", 0.5), ("fair", 0.3)):
        case, result = fitted(name)
        f = result.net.predict(case.x)[:, 0]
        assert 1 - ((f - case.y) ** 2).mean() / case.y.var() > least, name


def test_no_claims_is_plain_training(make):
    case = replace(make.wave(), properties=()).but(pretrain_epochs=np.int64(3), epochs=3)
    result = case.fit()
    assert result.verdict is None
    assert [record["phase"] for record in result.history] == ["pretrain"] * 3 + ["train"] * 3


# ---- seeds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["wave", "unfair", "plane", "several"])
def test_the_same_seed_gives_the_same_bits(make, name):
    case = getattr(make, name)().but(pretrain_epochs=4, epochs=4, posttrain_rounds=2, settle_rounds=1)
    one = case.fit()
    torch.manual_seed(99)  # whatever torch's generator was left at
    np.random.seed(99)
    other = case.fit()
    assert make.same(one.net, other.net)
    assert [{k: v for k, v in r.items() if "seconds" not in k} for r in one.history] == [
        {k: v for k, v in r.items() if "seconds" not in k} for r in other.history
    ]
    assert one.verdict.sentence() == other.verdict.sentence()


def test_another_seed_differs_even_from_the_same_start(make):
    case = make.wave().but(pretrain_epochs=2, epochs=2, posttrain_rounds=1)
    nets = []
    for seed in (0, 1):
        net = case.net(0)
        fit(net, case.x, case.y, case.claims, config=case.config, seed=seed)
        nets.append(net)
    assert not make.same(*nets)


# ---- history and progress -------------------------------------------------------------------------------------------

ALWAYS = {"phase", "unit", "width", "flipped", "generator_calls", "generator_seconds", "seconds"}
FIELDS = {
    "pretrain": {"loss", "box"},
    "train": {"loss", "box", "property", "lambda", "violation"},
    "posttrain": {"bound"},
}


def test_history_has_the_promised_fields(fitted):
    for name in SOME:
        _, result = fitted(name)
        text = json.dumps(result.history, allow_nan=False)
        assert json.loads(text) == result.history
        for record in result.history:
            assert record.keys() >= ALWAYS | FIELDS[record["phase"]]
        calls = [record["generator_calls"] for record in result.history]
        assert calls == sorted(calls) and calls[-1] > 0 and result.history[-1]["generator_seconds"] > 0
        assert all(0.0 <= record["flipped"] <= 1.0 and record["width"] >= 0.0 for record in result.history)
        units = [r["unit"] for r in result.history if r["phase"] == "train"]
        assert units == list(range(len(units)))


def test_projector_rounds_are_recorded_too(make):
    case = make.wave(boxes="paper").but(epochs=20, **{**SHORT, "settle_rounds": 0})
    result = case.fit(1)
    projected = [r for r in result.history if r["phase"] == "posttrain" and "lambda" in r]
    assert projected and all(r["lambda"] >= 0 and "loss" not in r for r in projected)
    assert projected[0]["bound"] > 0 and isinstance(result.verdict, Proved)


def test_boxes_flip_in_the_paper_s_mode_only(fitted):
    _, gap = fitted("monotone")
    _, paper = fitted("monotone, paper's boxes")
    assert not any(record["flipped"] for record in gap.history)
    assert paper.history[-1]["flipped"] == 1.0 and paper.history[-1]["width"] == 0.0


def test_lambda_grows_only(fitted):
    for name in SOME:
        lams = [r["lambda"] for r in fitted(name)[1].history if r["phase"] == "train"]
        assert lams == sorted(lams) and lams[0] >= 0.0


def test_the_callback_hears_of_every_unit(make):
    heard: list[Progress] = []
    case = make.plane().but(pretrain_epochs=3, epochs=4, **SHORT)
    result = case.fit(callback=heard.append)
    assert all(isinstance(progress, Progress) for progress in heard)
    assert [(p.phase, p.step) for p in heard] == [(r["phase"], r["unit"] + 1) for r in result.history]
    assert {p.phase: p.steps for p in heard} == {"pretrain": 3, "train": 4, "posttrain": 12}
    assert [p.seconds for p in heard] == sorted(p.seconds for p in heard)
    assert heard[0].loss is not None and heard[-1].bound is not None
    assert result.seconds >= heard[-1].seconds > 0


# ---- stopping -------------------------------------------------------------------------------------------------------


def test_pretraining_stops_early(make):
    still = make.wave().but(
        learning_rate=0.0,
        train_learning_rate=1e-2,
        pretrain_epochs=50,
        pretrain_patience=3,
        epochs=0,
        posttrain_rounds=0,
        least_quality=0.0,
    )
    epochs = sum(r["phase"] == "pretrain" for r in still.fit().history)
    assert epochs == 4  # the first improves on nothing, three do not improve
    patient = still.but(pretrain_patience=None, pretrain_epochs=6)
    assert len(patient.fit().history) == 6


def test_posttraining_stops_at_its_limit_with_a_bound(make):
    case = make.wave().but(
        feasible_start=False, epochs=0, posttrain_rounds=2, settle_rounds=0, projector_steps=0, repair=False
    )
    result = case.fit(1)
    assert [r["unit"] for r in result.history if r["phase"] == "posttrain"] == [0, 1]
    assert result.verdict.status in ("unknown", "violated") and result.verdict.violation_bound > 0
    json.dumps(result.history, allow_nan=False)  # the worst violation of no projector step is infinite


def test_time_limit_ends_every_phase(make, monkeypatch):
    case = make.plane().but(pretrain_epochs=10**6, pretrain_patience=None, epochs=10**6, posttrain_rounds=10**6)
    ticks = itertools.count()
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: 0.01 * next(ticks)))  # 10 ms a look
    result = case.fit(time_limit=0.3)
    assert {r["phase"] for r in result.history} == {"pretrain"} and 0 < len(result.history) < 30
    assert 0.3 * PLAIN_SHARE < result.seconds < 0.4  # the next look after the share ended it
    assert isinstance(result.verdict, Proved)  # the feasible start is feasible


def test_training_leaves_what_follows_it_its_time(monkeypatch):
    """Proof and certificate of many rows have what they are foreseen to take, and no more than half of the limit."""
    now = [0.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    run = clock.Clock(10.0, 0.9)
    for kept, until in ((0.5, 9.0), (3.0, 7.0), (100.0, 5.0)):
        run.reserve(kept)
        now[0] = until - 0.1
        assert not run.over()
        now[0] = until
        assert run.over()
    free = clock.Clock()
    free.reserve(100.0)
    assert not free.over()


def test_time_limit_bounds_the_generator(make, monkeypatch):
    """A posttraining round must not take the generator's own minute when a second is left."""
    limits: list[float] = []

    def slow(self, problem, r, config):
        limits.append(config.generator_limit)
        return Maximum(1.0, stopped=Why(Reason.TIME))

    monkeypatch.setattr(Generator, "bound", slow)
    case = make.several().but(pretrain_epochs=1, epochs=0, posttrain_rounds=1, generator_limit=60.0)
    case.fit(time_limit=30.0)
    assert limits and max(limits) <= 30.0 / len(limits)
    limits.clear()
    case.fit()
    assert set(limits) == {60.0}


def test_the_tree_of_the_last_proof_is_taken_over(make):
    """A second proof on the same weights evaluates the leaves of the first one and nothing else."""
    case = make.several()
    robust, net = case.claims[1], case.net()
    generator = Generator.of(robust, net.snapshot(), case.config)
    problem = generator.problem(net.snapshot(), 0.0)
    optimum = BranchAndBound().maximise(problem, problem.rows[0]).upper
    held = replace(problem, rows=(replace(problem.rows[0], rhs=problem.rows[0].rhs + optimum + 1e-4),))
    first, again = (generator.bound(held, 0, case.config) for _ in range(2))
    assert generator.calls == 2 and max(first.upper, again.upper) <= 1e-9
    assert first.nodes > 1 and again.nodes == (first.nodes + 1) // 2  # of a binary tree


def test_interrupting_returns_the_best_proved_state(make):
    case = make.plane().but(epochs=30, **SHORT)
    reached: list[Progress] = []

    def stop(progress):
        reached.append(progress)
        if progress.phase == "train" and progress.step == 20:
            raise KeyboardInterrupt

    result = case.fit(callback=stop)
    assert isinstance(result, Fit) and result.interrupted and not result.net.training
    assert isinstance(result.verdict, Proved)
    assert result.history[-1]["phase"] == "train" and result.history[-1]["unit"] == 19
    assert np.isfinite(result.net.predict(case.x)).all()


@pytest.mark.parametrize("phase", ["pretrain", "train", "posttrain"])
def test_interrupting_anywhere_leaves_a_usable_network(make, phase):
    case = make.wave(boxes="paper").but(epochs=6, check_every=100, **SHORT)

    def stop(progress):
        if progress.phase == phase and progress.step == 2:
            raise KeyboardInterrupt

    result = case.fit(1, callback=stop)
    assert result.interrupted and result.history[-1]["phase"] == phase
    assert result.verdict is not None and np.isfinite(result.net.predict(case.x)).all()


def test_an_interrupt_in_the_middle_of_a_step_keeps_the_box_from_flipping(make, monkeypatch):
    case = make.wave()
    step, count = phases.adam_step, []

    def broken(optimizer):
        step(optimizer)
        count.append(1)
        if len(count) == 5:
            with torch.no_grad():
                net.gap.const.fill_(-1.0)  # as if a step had just left the constraints
            raise KeyboardInterrupt

    monkeypatch.setattr(phases, "adam_step", broken)
    net = case.net()
    result = fit(net, case.x, case.y, case.claims, config=case.config)
    assert result.interrupted and result.net.gap.is_non_negative()


def test_an_error_of_the_callback_is_not_swallowed(make):
    with pytest.raises(ZeroDivisionError):
        make.wave().fit(callback=lambda progress: 1 / 0)  # type: ignore[arg-type]


def test_the_best_proved_state_on_validation_rows_is_restored(make, monkeypatch):
    kept: list[float] = []
    keep = Run._keep

    def spy(self):
        kept.append(self.task.held_out_loss(self.net))
        keep(self)

    monkeypatch.setattr(Run, "_keep", spy)
    case = make.plane().but(epochs=30, check_every=1, **SHORT)
    x, y = case.x[::2], 1 - case.y[::2]  # validation rows that say the opposite: the longer it trains, the worse
    net = case.net()
    fit(net, case.x, case.y, case.claims, loss="bce", config=case.config, validation=(x, y))
    assert len(kept) > 3 and kept[0] < kept[-1]
    t = torch.tensor(case.y)[:, None]
    loss = fit_module.task_loss("bce", t)(torch.tensor(net.predict(x)), torch.tensor(y)[:, None], None)
    assert float(loss) == pytest.approx(min(kept))
    assert isinstance(prove(net, case.claims), Proved)


def test_validation_rows_do_not_train_batch_norm(make):
    case = make.plane().but(pretrain_epochs=2, epochs=2, check_every=1, posttrain_rounds=2)
    states = []
    for validation in (None, (100 * np.ones((5, 3)), np.ones(5))):
        torch.manual_seed(0)
        backbone = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)).double()
        net = SmileNet(case.domain, backbone, 2, auxiliaries="affine")
        fit(net, case.x, case.y, case.claims, loss="bce", config=case.config, validation=validation)
        states.append(backbone[1].running_mean)
    assert float(states[0].abs().max()) < 5 and float(states[1].abs().max()) < 5


def test_sample_weights_count(make):
    case = make.wave().but(pretrain_epochs=30, epochs=0, posttrain_rounds=0)
    first = (case.x[:, 0] < 0).astype(float)
    half = case.fit(sample_weight=first + 1e-3)
    error = (half.net.predict(case.x)[:, 0] - case.y) ** 2
    assert error[first == 1].mean() < error[first == 0].mean()


# ---- dead auxiliaries -----------------------------------------------------------------------------------------------


def test_dead_auxiliaries_fail_loudly(make, monkeypatch):
    def bury(self, x):
        with torch.no_grad():
            self.lower.bias.fill_(-1e6)

    monkeypatch.setattr(SmileNet, "centre_", bury)
    with pytest.raises(DeadAuxiliaries, match="dead.*seed"):
        make.wave().but(learning_rate=0.0).fit()


def test_auxiliaries_that_learn_nothing_fail_loudly(make, monkeypatch):
    """Some units are alive, but what they say is worthless while the backbone predicts well."""
    case = make.wave().but(pretrain_epochs=40)

    def freeze(self, x):
        for parameter in (*self.lower.parameters(), *self.second.parameters()):
            parameter.requires_grad_(False)
        self.lower.out.zero_()

    monkeypatch.setattr(SmileNet, "centre_", torch.no_grad()(freeze))
    with pytest.raises(DeadAuxiliaries, match=r"learned nothing.*\d of 4 units dead.*pretrain longer"):
        case.fit()


def test_a_target_that_nothing_predicts_is_no_failure(make):
    case = make.wave().but(pretrain_epochs=5, epochs=1, posttrain_rounds=1, settle_rounds=0)
    noise = np.random.default_rng(8).normal(size=len(case.y))
    assert replace(case, y=noise).fit().verdict is not None


def test_constant_auxiliaries_cannot_die(make):
    case = make.unfair(auxiliaries="constant").but(pretrain_epochs=3, epochs=2, **SHORT)
    assert isinstance(case.fit().verdict, Proved)


# ---- bad input ------------------------------------------------------------------------------------------------------


def broken(array, index, value=np.nan):
    out = np.array(array, dtype=float)
    out[index] = value
    return out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: {"x": broken(c.x, (3, 1))}, r"Row 3 of the training inputs, column 'x1', is not finite"),
        (lambda c: {"x": broken(c.x, (3, 1), np.inf)}, r"Row 3 .*'x1', is not finite"),
        (lambda c: {"y": broken(c.y, 5)}, r"Row 5 of the training targets.*not finite"),
        (lambda c: {"x": c.x[:0], "y": c.y[:0]}, r"Got 0 training rows.*not be empty"),
        (lambda c: {"y": c.y[:-1]}, r"Got 80 training rows of inputs and 79 of targets"),
        (lambda c: {"x": c.x[:, :2]}, r"training inputs have 2 columns; expected 3"),
        (lambda c: {"y": np.stack([c.y, c.y], axis=1)}, r"training targets have 2 columns; expected 1"),
        (lambda c: {"y": c.y + 3}, r"training targets of a classifier must lie between 0 and 1"),
        (lambda c: {"sample_weight": np.ones(3)}, r"80 rows and 3 weights"),
        (lambda c: {"sample_weight": broken(np.ones(80), 7)}, r"Row 7 of the weights.*not finite"),
        (lambda c: {"validation": (c.x[:0], c.y[:0])}, r"Got 0 validation rows"),
        (lambda c: {"validation": (c.x[:4], c.y[:3])}, r"4 validation rows of inputs and 3 of targets"),
        (lambda c: {"validation": (broken(c.x, (0, 2)), c.y)}, r"Row 0 of the validation inputs, column 'x2'"),
        (lambda c: {"loss": "mae"}, r"'ce' or Quantiles\(levels\), not 'mae'"),
    ],
)
def test_bad_data_is_one_sentence_and_changes_nothing(make, tmp_path, change, says):
    case = make.plane()
    net = case.net()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    arguments = {"x": case.x, "y": case.y, "loss": "bce", **change(case)}
    with pytest.raises(SmileError, match=says) as error:
        fit(net, arguments.pop("x"), arguments.pop("y"), case.claims, checkpoint=tmp_path / "c", **arguments)
    assert "\n" not in str(error.value) and str(error.value).endswith(".")
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("phase", ["pretrain", "train"])
def test_a_loss_that_is_not_finite_is_one_sentence(make, phase):
    rates = {"pretrain": {"learning_rate": 1e60}, "train": {"train_learning_rate": 1e60}}[phase]
    with pytest.raises(SmileError, match="smaller learning rate"):
        make.plane().but(**rates).fit()
