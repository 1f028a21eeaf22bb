"""Equal rows get equal bits from what a certificate takes for equal, or nothing is certified."""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from torch import nn

from smilenn import Config, Domain, Fair, Feature, Network, Proved, SmileRegressor, Unknown
from smilenn.certify.certify import certify
from smilenn.errors import SmileError
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.model.clamp import clamp_fair
from smilenn.model.encoders import Branch, Encoder, Linear, Pinned

pytestmark = pytest.mark.usefixtures("long_selftests")

QUICK = Config(epochs=2, batch_size=64)


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def borrowers(n=200):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(1, 9, n),
            "age": rng.uniform(18, 90, n),
            "debt": rng.normal(0, 3, n),
            "size": rng.normal(0, 1, n),
        }
    )
    return frame, np.log(frame.income) + 0.02 * (frame.age - 50) - 0.3 * np.abs(frame.debt)


def beside(module):
    """A rising branch over the income, and a module of nine outputs over the rest."""

    def make(domain, u):
        torch.manual_seed(0)
        rising = Branch("up", [0], [Linear(1, 1, signs=np.ones((1, 1)))])
        return Encoder(domain, [rising, Branch("rest", [1, 2, 3], [Pinned(module(), 9)])])

    return make


def monotone(module, limit=20.0):
    return SmileRegressor(
        increasing=["income"],
        network=Network(encoder=beside(module)),
        config=QUICK,
        random_state=0,
        certify_limit=limit,
    ).fit(*borrowers())


def perceptron(dtype=torch.float32, bend=nn.ReLU):
    return nn.Sequential(nn.Linear(3, 33), bend(), nn.Linear(33, 9)).to(dtype)


def lowered(model, rows, rng):
    """How often raising the income a little lowers the output, the same rows standing in another order."""
    raised, order = rows.assign(income=rows.income + 1e-9), rng.permutation(len(rows))
    after = np.empty(len(rows))
    after[order] = model.predict(raised.iloc[order])
    return int((after < model.predict(rows)).sum())


def test_a_certified_model_never_falls_wherever_its_rows_stand(threads):
    model, rng = monotone(perceptron), np.random.default_rng(2)
    assert isinstance(model.verdict_, Proved) and model.violation_bound_ == 0.0
    frame, _ = borrowers()
    for size, count in itertools.product((64, 33, 150), (1, 2)):
        threads(count)
        assert sum(lowered(model, frame.iloc[rng.integers(0, len(frame), size)], rng) for _ in range(20)) == 0


class Restless(nn.Module):
    """It answers otherwise now and then."""

    def __init__(self):
        super().__init__()
        self.layer, self.calls = nn.Linear(3, 9), 0

    def forward(self, y):
        self.calls += 1
        return self.layer(y) + (1e-7 if len(y) == 1 and self.calls > 40 and self.calls % 5 == 0 else 0.0)


class Neighbours(nn.Linear):
    """It looks at the other rows of its batch."""

    def __init__(self):
        super().__init__(3, 9)

    def forward(self, y):
        return super().forward(y - y.mean(dim=0))


@pytest.mark.parametrize("limit", [20.0, 0.0])
@pytest.mark.parametrize(
    ("module", "says"), [(Restless, "'rest' gives a row other bits"), (Neighbours, "'rest' looks at the other rows")]
)
def test_training_ends_unknown_where_equal_rows_get_other_bits(module, says, limit):
    model = monotone(module, limit)
    assert isinstance(model.verdict_, Unknown) and says in model.verdict_.reason and model.certificate_ is None


# ---- clamps ---------------------------------------------------------------------------------------------------------


class TorchModel(RegressorMixin, BaseEstimator):
    """A perceptron behind the interface of scikit-learn."""

    def __init__(self, width=33, dtype=torch.float32, bend=nn.ReLU):
        self.width, self.dtype, self.bend = width, dtype, bend

    def fit(self, X, y):
        torch.manual_seed(0)
        h, bend = self.width, self.bend
        layers = [nn.Linear(X.shape[1], h), bend(), nn.Linear(h, h), bend(), nn.Linear(h, 1)]
        self.net_ = nn.Sequential(*layers).to(self.dtype)
        return self

    def predict(self, X):
        with torch.no_grad():
            return self.net_(torch.tensor(np.asarray(X), dtype=self.dtype))[:, 0].double().numpy() * 1e5


class Tails(TorchModel):
    """What the tails of vectors do to a model, made visible: a row's value depends on its place in a call."""

    def predict(self, X):
        return 1000.0 * X["x0"].to_numpy(float) + 100.0 * X["sex"].to_numpy() + 0.01 * (np.arange(len(X)) % 8 > 5)


def people(n=90):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.uniform(0, 9, n).astype(np.float32) for i in range(6)})
    frame["sex"] = rng.integers(0, 2, n)
    return frame, 1000 * frame.x0 - 500 * frame.x1 + 3000 * frame.sex


def apart(model, rows, rng):
    """|f(a) − f(b)| of rows and their counterparts of the other sex, which stand elsewhere."""
    order = rng.permutation(len(rows))
    other = np.empty(len(rows))
    other[order] = model.predict(rows.assign(sex=1 - rows.sex).iloc[order])
    return np.abs(model.predict(rows) - other)


@pytest.mark.parametrize("inner", [TorchModel(5), Tails()], ids=lambda m: type(m).__name__)
def test_a_clamp_keeps_its_epsilon_wherever_rows_stand(threads, inner):
    X, y = people()
    model, rng = ClampedRegressor(inner, ["sex"], 1.0).fit(X, y), np.random.default_rng(1)
    assert model.certificate_.accepted
    for count in (1, 2):
        threads(count)
        assert apart(model, X, rng).max() <= 1.0


def test_one_call_asks_for_all_variants_of_one_row():
    calls = []

    class Noted(TorchModel):
        def predict(self, X):
            calls.append(X)
            return X["x0"].to_numpy(float)

    X, y = people(20)
    model = ClampedRegressor(Noted(), ["sex"], 1.0).fit(X, y)
    calls.clear()
    model.predict(pd.concat([X, X]))
    assert len(calls) == len(X)  # centre and backbone share an answer, and so do equal rows
    for call in calls:
        assert call["sex"].tolist() == [0, 1] and call.drop(columns="sex").nunique().eq(1).all()
        assert call.index.tolist() == [0, 1] and dict(call.dtypes) == dict(X.dtypes)
    model.predict(X)
    assert len(calls) == 2 * len(X)  # nothing is remembered from one prediction to the next


def test_a_model_that_answers_otherwise_when_asked_again_is_not_certified(tmp_path):
    class Restless(TorchModel):
        def predict(self, X):
            return X["x0"].to_numpy(float) + np.random.default_rng().normal(size=len(X))

    X, y = people(30)
    model = ClampedRegressor(Restless(), ["sex"], 1.0).fit(X, y)
    assert not model.certificate_.accepted and model.certificate_.files == {}
    assert "gives a row other bits" in model.certificate_.statement
    assert model.certificate_.bound == np.inf
    model.save(tmp_path / "clamp")
    with pytest.raises(SmileError):
        ClampedRegressor.load(tmp_path / "clamp", model.model_)


# ---- many pairs -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "bend"), [(torch.float32, nn.ReLU), (torch.float64, nn.ReLU), (torch.float32, nn.GELU)]
)
def test_a_million_pairs_of_a_pinned_model(threads, dtype, bend):
    model, rng = monotone(lambda: perceptron(dtype, bend)), np.random.default_rng(3)
    frame, _ = borrowers()
    for k in range(100):
        threads(1 + k % 2)
        rows = pd.DataFrame({c: rng.uniform(frame[c].min(), frame[c].max(), 10_000) for c in frame})
        assert lowered(model, rows, rng) == 0


def crowd(n, rng):
    """People of whom no two are alike, without their group; few columns, as each costs time in every call."""
    return np.column_stack([rng.uniform(0, 9, n), rng.normal(0, 3, n)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "inner",
    [
        TorchModel(5),
        TorchModel(33, torch.float64),
        TorchModel(33, torch.float32, nn.GELU),
        TorchModel(33, torch.float64, nn.GELU),
    ],
    ids=["float32", "float64", "float32-gelu", "float64-gelu"],
)
def test_half_a_million_pairs_of_a_clamped_model(threads, inner):
    """4,200 people, each as a member of all sixteen groups: 120 pairs a person, 504,000 of 67,200 different rows.

    A person's sixteen rows stand in sixteen batches, each at a place of its own, so that the model is asked sixteen
    times. Some are asked for once more, elsewhere and by another number of threads, and must get the same bits.
    """
    rng, n = np.random.default_rng(4), 700
    domain = Domain((Feature("x", lo=-1, hi=10), Feature("y", lo=-20, hi=20), Feature("group", "integer", lo=0, hi=15)))
    learned = domain.decode(domain.sample(120, rng))
    fair = clamp_fair(inner.fit(learned, None).predict, domain, ["group"], 1.0, learned)
    assert certify(fair, Fair(["group"], 1.0).lower(fair.domain)).accepted

    def asked(people, group, count):
        threads(count)
        order, out = rng.permutation(len(people)), np.empty(len(people))
        out[order] = fair.predict(np.column_stack([people, group])[order])[:, 0]
        return out

    for _ in range(6):
        people, values, who = crowd(n, rng), np.empty((16, n)), np.arange(n)
        for k in range(16):
            group = (who + k) % 16
            values[group, who] = asked(people, group, 1 + k % 2)
        assert 0.9 < (values.max(axis=0) - values.min(axis=0)).max() <= 1.0  # the clamp has something to do
        again = asked(people[:200], who[:200] % 16, 2)
        assert (again.view(np.int64) == values[who % 16, who][:200].view(np.int64)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "inner", [RandomForestRegressor(5, n_jobs=2), HistGradientBoostingRegressor(max_iter=10)], ids=str
)
def test_many_places_of_some_people_of_a_clamped_model(threads, inner):
    """Of 50 people at a time, at all places: models that take a millisecond a call."""
    X, y = people()
    model, rng = ClampedRegressor(inner, ["sex"], 1.0).fit(X, y), np.random.default_rng(4)
    for k in range(40):
        threads(1 + k % 2)
        few = X.iloc[rng.integers(0, len(X), 50)].assign(x0=rng.uniform(0, 9, 50).astype(np.float32))
        who = (np.arange(25_600) // 64 + np.arange(25_600) % 64) % 50  # everybody comes to stand at each of 64 places
        assert apart(model, few.iloc[who], rng).max() <= 1.0
        values = model.predict(few.iloc[who])
        assert len(set(zip(who.tolist(), values.view(np.int64).tolist(), strict=True))) == 50  # equal rows, equal bits


class Restless(nn.Module):
    """The same weights by name, but another answer at every call."""

    def __init__(self):
        super().__init__()
        self.calls, self.inner = 0, perceptron()

    def forward(self, y):
        self.calls += 1
        return self.inner(y) + self.calls


def test_a_folder_that_lost_its_self_test_is_tested_when_it_is_loaded(tmp_path):
    import smilenn
    from smilenn.model.folder import read_folder, write_folder

    class Still(Restless):
        def forward(self, y):
            return self.inner(y)

    monotone(Still).save(tmp_path / "m")
    files = {name: data for name, data in read_folder(tmp_path / "m").items() if name != "selftest.json"}
    write_folder(tmp_path / "n", files)
    assert isinstance(smilenn.load(tmp_path / "n", modules={"rest": Still()}).verdict_, Proved)
    with pytest.raises(SmileError, match="other bits"):
        smilenn.load(tmp_path / "n", modules={"rest": Restless()})
