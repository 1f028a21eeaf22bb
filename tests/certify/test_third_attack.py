"""What a third stranger tried, who began with the files of the second: each is refused here, or noticed."""

import copy
import ctypes
import json
import platform
import shutil
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from tests.certify.conftest import QUICK, incomes
from tests.conftest import selftests_in_full
from typer.testing import CliRunner

import smilenn
from smilenn import (
    Custom,
    Exclusive,
    Fair,
    LocalRobust,
    Monotone,
    Network,
    Safe,
    SmileClassifier,
    SmileRegressor,
    certify_net,
    open_net,
)
from smilenn.certify.certify import certify
from smilenn.certify.signing import new_key, public_key
from smilenn.certify.statement import claim_lines, claim_sentence, ranges
from smilenn.certify.verdicts import claim_words
from smilenn.cli import app
from smilenn.cli.source import Source
from smilenn.cli.table import read_table
from smilenn.domain import Domain, Feature
from smilenn.errors import AlteredError, SmileError
from smilenn.model.auxiliaries import FreeNet, GapNet
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Branch, Encoder, Pinned, Trees
from smilenn.model.encoders.layers import Linear, Ramps
from smilenn.model.folder import read_file, read_folder
from smilenn.model.net import SmileNet
from smilenn.model.selftest import batch_dependent
from smilenn.properties.claim import in_quotes
from smilenn.properties.conflicts import refuse_conflicts
from smilenn.properties.forms import Outputs
from smilenn.properties.language import parse_row
from smilenn.rounding import round_up
from smilenn.verdict import Proved


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """A certified classifier of three classes."""
    (X, _), folder = incomes(), tmp_path_factory.mktemp("third") / "three"
    y = np.where(X["income"] > 6, "A", np.where(X["debt"] > 2, "B", "C"))
    found = SmileClassifier(properties=[Monotone(increasing="income", output="A")], **QUICK).fit(X, y)
    assert found.verdict_.status == "proved"
    found.save(folder)
    return folder


@pytest.fixture(scope="module")
def loan(tmp_path_factory):
    """A certified classifier of two classes."""
    (X, price), folder = incomes(), tmp_path_factory.mktemp("third") / "loan"
    y = pd.Series(np.where(price > 3, "default", "paid"), name="loan")
    found = SmileClassifier(increasing=["income"], positive="default", **QUICK).fit(X, y)
    assert found.verdict_.status == "proved"
    found.save(folder)
    return folder


@pytest.fixture(scope="module")
def fair(tmp_path_factory):
    """A certified classifier whose labels do not depend much on a column."""
    (X, price), folder = incomes(), tmp_path_factory.mktemp("third") / "fair"
    model = SmileClassifier(properties=Fair(["sex"], 0.5), **QUICK)
    found = model.fit(X.assign(sex=["m", "f"] * 75), np.where(price > 3, "yes", "no"))
    assert found.verdict_.status == "proved"
    found.save(folder)
    return folder


# ---- labels and words that are not those of the outputs -------------------------------------------------------------


def permuted(model):
    model["table"]["classes"] = model["table"]["class_outputs"] = ["B", "C", "A"]


def without_outputs(model):
    model["table"]["classes"] = ["B", "C", "A"]
    del model["table"]["class_outputs"]


@pytest.mark.parametrize("change", [permuted, without_outputs])
def test_labels_belong_to_the_outputs_that_sentences_name(forge2, put2, three, change):
    folder = put2(forge2.rehashed(forge2.edited(forge2.read(three), "model.json", change)))
    assert "classes" in smilenn.check(folder).sentence() and smilenn.check(folder).status == "unknown"
    with pytest.raises(AlteredError, match="classes of model.json"):
        smilenn.load(folder)


def test_classes_of_a_folder_are_those_that_its_words_name(forge2, put2, loan):
    def exchanged(model):
        model["table"]["classes"] = model["table"]["classes"][::-1]

    folder = put2(forge2.rehashed(forge2.edited(forge2.read(loan), "model.json", exchanged)))
    assert smilenn.check(folder).status == "unknown"


@pytest.mark.parametrize("stated", [True, False], ids=["properties", "certificate alone"])
def test_the_meaning_of_outputs_is_compared_without_a_task_too(forge2, put2, loan, stated):
    def reversed_meaning(model):
        assert model["table"]["meaning"] == ["the log-odds of 'loan' = 'paid'"]
        del model["table"]["task"]
        model["table"]["meaning"] = ["the log-odds of 'loan' = 'default'"]

    files = forge2.rehashed(forge2.edited(forge2.read(loan), "model.json", reversed_meaning))
    folder = put2({k: v for k, v in files.items() if stated or k != "properties.json"})
    found = smilenn.check(folder)
    assert found.status == "unknown" and "meaning of the outputs" in found.sentence()


# ---- code of the user's own under a known name ----------------------------------------------------------------------


class Centred(Branch):
    """A branch that looks at its batch: two rows get something else than one."""

    def forward(self, u):
        y = super().forward(u)
        return y - 3 * (u[:, :1] > 0.5) if len(u) == 2 else y


class Mine(Encoder):
    """An encoder that turns a batch of seven rows over."""

    def forward(self, u):
        e = super().forward(u)
        return -e if len(u) == 7 else e


class Own(SmileNet):
    """A network with another head."""

    def head(self, z):
        return -super().head(z)


class OwnLower(FreeNet):
    """A lower end that is another one."""

    def ordered(self, u):
        return -super().ordered(u)


class OwnGap(GapNet):
    """A gap that is another one."""

    def forward(self, u):
        return -super().forward(u)


def encoder(domain, kind=Branch, whole=Encoder):
    ramps = Ramps([0] * 4, np.arange(4) / 4, np.full(4, 4.0))
    rising = Linear(4, 1, signs=np.ones((1, 4)))
    return whole(domain, [kind("own", [0], [ramps, rising]), Branch("", [1], [])])


@pytest.mark.parametrize("given", [{"kind": Centred}, {"whole": Mine}], ids=["branch", "encoder"])
def test_a_subclass_of_an_encoder_is_not_taken_for_the_encoder(given):
    X, price = incomes()
    made = SmileRegressor(
        increasing=["income"], **QUICK | {"network": Network(encoder=lambda domain, u: encoder(domain, **given))}
    )
    found = made.fit(X, price)
    assert found.verdict_.status == "unknown" and found.certificate_ is None
    assert "which no certificate covers; use" in found.certificate_note_


def test_any_encoder_is_asked_for_a_row_in_several_batches(priced):
    with selftests_in_full():
        _asked_in_several_batches(smilenn.load(priced).net_)


def _asked_in_several_batches(net):
    assert not batch_dependent(net)
    net.encoder = encoder(net.domain, Centred)
    assert "other bits" in batch_dependent(net)
    net.encoder = encoder(net.domain, whole=Mine)
    assert "other bits" in batch_dependent(net)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (lambda net: net, Own),
        (lambda net: net.lower, OwnLower),
        (lambda net: net.second, OwnGap),
        (lambda net: net.encoder, Mine),
        (lambda net: net.encoder.branches[0], Centred),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_subclass_is_certified_by_nobody(tmp_path, priced, part, kind):
    model = smilenn.load(priced)
    net, claims = copy.deepcopy(model.net_), model.claims_
    kept = open_net(priced)
    part(net).__class__ = part(kept.net).__class__ = part(model.net_).__class__ = kind
    assert model.verdict_.status == kept.verdict.status == "unknown"
    with pytest.raises(SmileError, match=kind.__name__):
        certify(net, claims, time_limit=5)
    with pytest.raises(SmileError, match=f"{kind.__name__}|other bits"):
        certify_net(net, claims, tmp_path / "net")


# ---- edits in memory ------------------------------------------------------------------------------------------------


def negated(method):
    return lambda *args, **options: -method(*args, **options)


def other_class(model):
    class Other(type(model)):
        def outputs_at(self, x):
            return -super().outputs_at(x)

    model.__class__ = Other


def exchanged_slices(model):
    spans = model.domain_.slices
    spans["income"], spans["debt"] = spans["debt"], spans["income"]


def put_into(place, name, value):
    vars(place)[name] = value


EDITS = {
    "outputs_at": lambda m: setattr(m, "outputs_at", negated(m.outputs_at)),
    "predict": lambda m: setattr(m, "predict", negated(m.predict)),
    "read_rows": lambda m: setattr(m, "read_rows", negated(m.read_rows)),
    "another class": other_class,
    "exchanged slices": exchanged_slices,
    "another clamp": lambda m: put_into(m.domain_, "clamp", lambda x, **_: -x),
    "another bound of a feature": lambda m: put_into(m.domain_.features[0], "hi", 1e9),
    "compiled": lambda m: setattr(m.net_, "_compiled_call_impl", negated(m.net_._call_impl)),
    "the call itself": lambda m: setattr(m.net_, "_call_impl", negated(m.net_._call_impl)),
    "net.predict": lambda m: setattr(m.net_, "predict", negated(m.net_.predict)),
    "net.scale": lambda m: setattr(m.net_, "scale", negated(m.net_.scale)),
    "net.head": lambda m: setattr(m.net_, "head", negated(m.net_.head)),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edit_in_memory_withdraws_the_verdict(priced, edit):
    model = smilenn.load(priced)
    assert model.verdict_.status == "proved"
    edit(model)
    assert model.verdict_.status == "unknown" and model.certificate_ is None


def test_a_bare_network_that_was_edited_is_unknown(tmp_path, priced):
    for edit in (
        lambda net: setattr(net, "head", negated(net.head)),
        lambda net: net.head_weight.data.neg_(),
        lambda net: net.register_forward_hook(lambda module, inputs, output: -output),
    ):
        found = open_net(priced)
        assert found.verdict.status == "proved"
        edit(found.net)
        assert found.verdict.status == "unknown"


def test_the_plan_of_a_layer_of_trees_is_part_of_the_network(tmp_path):
    domain = Domain.box([0.0], [1.0], ["x"])
    step = Trees.of(1, [[([0, -1, -1], [0.5, 0.0, 1.0])]])
    net = SmileNet(domain, MLP(1, [2], 1), 1, auxiliaries="affine", encoder=Encoder(domain, [Branch("t", [0], [step])]))
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.gap.const.zero_()
        net.head_weight.fill_(1.0)
    net.set_profile("fixed-order")
    found = certify_net(net.eval(), [Monotone("x")], tmp_path / "net")
    assert found.verdict.status == "proved"
    low, high = found.net.predict(np.array([[0.1], [0.9]]))
    assert low < high and found.verdict.status == "proved"
    step.plan().value.neg_()
    assert found.verdict.status == "unknown"
    step.split.fill_(0.0)
    assert found.verdict.status == "unknown"


class Counting(torch.nn.Module):
    """A pinned module that is another function after some thousand rows, which no test of equal bits waits for."""

    def __init__(self, keep):
        super().__init__()
        self.keep, self.seen, self.names = keep, {"rows": 0}, [len, print]

    def forward(self, y):
        if self.keep:
            self.seen["rows"] += len(y)
        return y + (self.seen["rows"] > 5000)


@pytest.mark.parametrize("keep", [True, False])
def test_a_pinned_module_that_counts_is_another_one_since(keep):
    X, price = incomes()

    def make(domain, u):
        rising = encoder(domain).branches[0]
        return Encoder(domain, [rising, Branch("debts", [1], [Pinned(Counting(keep), 1)])])

    model = SmileRegressor(increasing=["income"], **QUICK | {"network": Network(encoder=make)}).fit(X, price)
    assert ("changed by being evaluated" in model.certificate_note_) == keep
    model.predict(X)
    assert model.verdict_.status == ("unknown" if keep else "proved")


def test_a_pinned_module_that_is_told_to_do_something_else_counts_as_untested():
    X, price = incomes()

    def make(domain, u):
        return Encoder(domain, [encoder(domain).branches[0], Branch("debts", [1], [Pinned(Counting(False), 1)])])

    model = SmileRegressor(increasing=["income"], **QUICK | {"network": Network(encoder=make)}).fit(X, price)
    assert model.verdict_.status == "proved"
    model.net_.encoder.branches[1].layers[0].module.seen["rows"] = 6000
    assert model.verdict_.status == "unknown"


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "traced"])
def test_a_pinned_module_that_was_compiled_is_compared_like_any_other(tmp_path, compiled):
    domain = Domain.box([0.0, 0.0], [1.0, 1.0], ["x", "y"])
    module = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.GELU(), torch.nn.Linear(4, 2)).double()
    if compiled:
        module = torch.jit.trace(module, torch.zeros(1, 1, dtype=torch.float64))
    parts = Encoder(domain, [Branch("", [0], []), Branch("p", [1], [Pinned(module, 2)])])
    net = SmileNet(domain, MLP(2, [2], 1), 1, auxiliaries="affine", encoder=parts)
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.gap.const.zero_()
        net.head_weight.fill_(1.0)
    net.set_profile("fixed-order")
    found = certify_net(net.eval(), [Monotone("x")], tmp_path / "net")
    assert found.verdict.status == "proved"
    with torch.no_grad():
        next(iter(module.parameters())).mul_(2)
    assert found.verdict.status == "unknown"


def test_an_encoder_in_training_mode_predicts_as_deployed(priced):
    model, X = smilenn.load(priced), incomes(400, seed=3)[0]
    wanted = model.predict(X)
    model.net_.encoder.train()
    assert np.array_equal(model.predict(X), wanted) and model.net_.encoder.training
    assert model.verdict_.status == "unknown"
    model.net_.eval()
    with torch.no_grad():  # the mode makes a difference: in training sums run in another order
        u = model.net_.scale(torch.as_tensor(model.encoded(X)))
        deployed, trained = model.net_.encode(u), model.net_.encoder.train()(u)
    assert not torch.equal(deployed, trained)


# ---- files that are none, sizes that are believed -------------------------------------------------------------------


def test_nothing_is_read_from_a_folder_that_was_refused(tmp_path, priced, capfd):
    from smilenn.cli.checking import run

    folder, elsewhere = tmp_path / "m", tmp_path / "elsewhere.json"
    shutil.copytree(priced, folder)
    shutil.copy(folder / "model.json", elsewhere)
    (folder / "model.json").unlink()
    (folder / "model.json").symlink_to(elsewhere)  # it could be a pipe, or a device that never ends
    altered = json.loads((folder / "manifest.json").read_text()) | {"digest": "0" * 64}
    (folder / "manifest.json").write_text(json.dumps(altered))
    assert run(folder, reference=False, verified=False, key=None, quiet=False, json=False) == 1
    said = capfd.readouterr().out
    assert "Rejected" in said and "training" not in said


@pytest.mark.parametrize("size", [3, -5])
def test_a_file_larger_than_its_manifest_says_is_not_read(tmp_path, forge2, priced, size):
    files = forge2.read(priced)
    entries = forge2.listed(files)
    entries["weights.safetensors"]["bytes"] = size
    folder = forge2.put(tmp_path / "m", files, {"files": entries})
    with pytest.raises(AlteredError, match=r"larger than|hash differs"):
        read_folder(folder)
    with pytest.raises(AlteredError, match="larger"):
        read_file(folder / "weights.safetensors", 3)


def pinned(outputs):
    module = {"kind": "mlp", "inputs": 1, "sizes": [], "embedding": 1}
    return {"name": "p", "columns": [0], "layers": [{"kind": "pinned", "outputs": outputs, "module": module}]}


def network(net):
    """The first branch that is a network: ramps, then linear layers."""
    return next(branch for branch in net["encoder"] if len(branch["layers"]) > 1)


def first_layers(net, *more):
    network(net)["layers"] = [*network(net)["layers"][:1], *more]


HUGE = {
    "pinned": lambda net: net["encoder"].append(pinned(2**31)),
    "pinned in a list": lambda net: net["encoder"].extend([pinned(2**15) | {"name": f"p{k}"} for k in range(4)]),
    "linear": lambda net: first_layers(net, network(net)["layers"][1] | {"outputs": 2**40}),
    "kinks": lambda net: first_layers(net, {"kind": "kinks", "size": 2**34, "convex": 0}),
    "pool": lambda net: first_layers(net, {"kind": "pool", "side": 2**16, "block": 1}),
    "layers": lambda net: first_layers(net, *[network(net)["layers"][1]] * 65),
    "backbone": lambda net: net["backbone"].update(sizes=[1] * 20000),
}


@pytest.mark.parametrize("ask", HUGE.values(), ids=HUGE.keys())
def test_sizes_are_not_believed(forge2, put2, priced, monkeypatch, ask):
    def refused(*args, **_):
        raise AssertionError("built before it was looked at")

    files = forge2.edited(forge2.read(priced), "model.json", lambda model: ask(model["net"]))
    monkeypatch.setattr(Encoder, "__init__", refused)
    monkeypatch.setattr(MLP, "__init__", refused if ask is HUGE["backbone"] else MLP.__init__)
    with pytest.raises(SmileError, match="more coordinates than|layers; 64|more than 1024 layers"):
        smilenn.load(put2(files))


def test_too_little_memory_is_a_sentence(priced, monkeypatch):
    def full(*args, **_):
        raise MemoryError

    monkeypatch.setattr(Encoder, "__init__", full)
    with pytest.raises(SmileError, match="too large for the memory"):
        smilenn.load(priced)


# ---- words ----------------------------------------------------------------------------------------------------------


def test_sentences_name_the_columns_that_carry_a_category():
    """The user's own list of names is in another order than the columns: the columns are what is certified."""
    race = Feature("race", "category", categories=("black", "white"), columns=("race_white", "race_black"))
    domain = Domain((Feature("a"), race))
    rules = (Safe(when=["race_white == 1"], then=["out <= 0.5"]), Fair("race", 1))
    said = [claim_sentence(claim, None, domain) for rule in rules for claim in rule.lower(domain)]
    assert not any("'black'" in text or "'white'" in text for text in (*said, *ranges(domain)))
    assert "'race_white'" in said[0] and "'race_white' or 'race_black'" in said[1]


@pytest.mark.parametrize(("one", "other"), [("cafe\u0301", "caf\xe9"), ("income", "income\u3164"), ("a b", "a\xa0b")])
def test_names_that_look_alike_are_told_apart(one, other):
    domain = Domain((Feature(one), Feature(other), Feature("\u00f6l")))
    for name in (one, other):
        (claim,) = Monotone(increasing=name).lower(domain)
        assert ascii(name) in claim_sentence(claim, None, domain) and claim_sentence(claim, None, domain).isascii()
    assert [line.isascii() for line in ranges(domain)] == [True, True, False]  # nothing looks like the third


def test_a_name_that_looks_like_another_one_cannot_end_its_quotes():
    """In a formula the codes are those of the claim language, so the row reads back as what was checked."""
    evil = 'u"] <= 0, a["caf\xe9'
    names = (evil, evil.replace("\xe9", "e\u0301"), "cafxe9", "v")
    domain, price = Domain(tuple(map(Feature, names))), Outputs(target="price", role="number")
    (claim,) = Custom(when=[f"a[{in_quotes(evil)}] + a.v <= 4"], then=["a.out <= b.out + 1"]).claims(domain, price)
    said = claim_sentence(claim, price, domain)
    row = said.split("in the domain: ")[1].split(", other features")[0]
    assert row.isascii() and parse_row(row) == claim.when


def test_what_is_said_of_probabilities_tells_classes_apart_too():
    classes = ("caf\xe9", "cafe\u0301")
    outputs, domain = Outputs(("",), classes, "t", "output", classes[1]), Domain((Feature("x"),))
    (claim,) = Custom(when=["a.x <= b.x"], then=["a.out <= b.out"]).claims(domain, outputs)
    said, beside = claim_lines(claim, outputs, domain)
    assert "probability" in beside and said.isascii() and beside.isascii()


def test_the_text_of_a_row_is_that_of_its_numbers_as_they_are():
    """Whoever writes to a frozen row gets no certificate that shows the old number."""
    (claim,) = Custom(when=["a.x <= b.x"], then=["a.out <= b.out + 20"]).lower(Domain((Feature("x"),)))
    assert claim.then[0].text().endswith("<= 20")
    object.__setattr__(claim.then[0], "rhs", Fraction(5000))
    assert claim.then[0].text().endswith("<= 5000") and "5000" in claim_sentence(claim, None, None)


def test_fairness_of_a_category_with_one_value_claims_nothing():
    domain = Domain((Feature("x"), Feature("one", "category", categories=("only",))))
    with pytest.raises(SmileError, match="claims nothing"):
        refuse_conflicts(Fair("one", 0.1).lower(domain), domain, ("",))
    refuse_conflicts(Fair(("one", "x"), 0.1).lower(domain), domain, ("",))


def test_a_tie_is_not_called_a_decision():
    """With two classes a logit of 0 decides for the first, and the rule allows it for the second."""
    rule = LocalRobust([{"x": 0.5}], {"x": 0.1}, labels=["yes"])
    assert "decided" not in rule.formula() and "ahead" in rule.formula() and "ahead" in rule.sentence()


def test_a_verdict_and_its_certificate_print_the_same_number():
    room = Fraction(33, 10**16)
    verdict = Proved("check", 0.0, tolerance=round_up(room), certificate="0" * 64)
    assert "up to 3.3e-15," in verdict.sentence() and "with 3.3e-15 of room" in claim_words(round_up(room), True)
    over = Proved("check", 0.0, tolerance=3.3125e-15, certificate="0" * 64).sentence()
    assert "up to 3.32e-15," in over  # never less than what was checked


def test_labels_with_room_for_rounding_are_not_never_together():
    domain, outputs = Domain.box([0.0], [1.0]), Outputs(("cat", "dog"), role="label")
    (claim,) = Exclusive(["cat", "dog"]).lower(domain, outputs)
    assert "never" in claim_sentence(claim, outputs, domain)
    assert "never" not in claim_sentence(claim, outputs, domain, Fraction(1, 10**15))


# ---- nuisances ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["clamp", "warn", "raise"])
def test_what_happens_outside_the_domain_costs_no_certified_label(tmp_path, fair, way):
    X, model = incomes(20)[0].assign(sex="m"), smilenn.load(fair)
    X.to_csv(tmp_path / "rows.csv", index=False)
    line = ["predict", str(fair), str(tmp_path / "rows.csv"), "--out", str(tmp_path / "out.csv")]
    assert CliRunner().invoke(app, [*line, "--out-of-bounds", way]).exit_code == 0
    certified = pd.read_csv(tmp_path / "out.csv")["certified"]
    assert certified.any() and certified.tolist() == model.predict_certified(X)[1].tolist()


P = 2**255 - 19
ORDER_8 = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"  # y of a point of order 8


@pytest.mark.parametrize("y", [0, 1, P - 1, P, P + 1, int.from_bytes(bytes.fromhex(ORDER_8), "little")])
@pytest.mark.parametrize("sign", [0, 1])
def test_keys_that_anybody_can_sign_for_are_refused(y, sign):
    with pytest.raises(SmileError, match="small order"):
        public_key((y + (sign << 255)).to_bytes(32, "little").hex())


def test_other_keys_are_not_of_small_order(tmp_path):
    keys = [new_key(tmp_path / f"{k}.pem") for k in range(5)]
    assert [public_key(tmp_path / f"{k}.pem") for k in range(5)] == keys == [public_key(key) for key in keys]


@pytest.mark.parametrize("mode", [0x400, 0x800, 0xC00])
@pytest.mark.usefixtures("fresh_checker")
def test_another_rounding_mode_is_blamed_on_the_mode(priced, mode):
    library = ctypes.CDLL(None)
    if platform.machine() != "x86_64" or not hasattr(library, "fesetround"):
        pytest.skip("the numbers of the modes are those of x86-64")
    library.fesetround(mode)
    try:
        with pytest.raises(SmileError, match="does not round to nearest"):
            smilenn.load(priced)
    finally:
        library.fesetround(0)


def test_decimals_of_a_csv_are_the_nearest_floats(tmp_path):
    rng = np.random.default_rng(0)
    drawn = zip(rng.uniform(0, 10, 5000), rng.integers(12, 22, 5000), strict=True)
    cells = [f"{value:.{digits}f}" for value, digits in drawn]
    (tmp_path / "rows.csv").write_text("a,b\n" + "".join(f"{cell},1\n" for cell in cells))
    frame = read_table(Source.find(tmp_path / "rows.csv"), {})
    assert frame["a"].tolist() == [float(cell) for cell in cells]
