"""A model folder: bit-identical round trip, strict reading, nothing half-written."""

import json
import os

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.domain import Domain, Feature
from smilenn.errors import AlteredError, SmileError
from smilenn.model import bundle, folder
from smilenn.model.backbones import MLP, ConvNet
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.net import SmileNet

DOMAIN = Domain(
    (
        Feature("age", "integer", 18, 90, shift=18.0, mult=1 / 72),
        Feature("income", "continuous", 0.0, 200.0, shift=0.1, mult=0.005),
        Feature("race", "category", categories=("a", "b", "ç")),
    )
)


def network(backbone=None, **options) -> SmileNet:
    torch.manual_seed(0)
    options = {"auxiliaries": "relu", "hidden": 5, "output_scale": 12.3} | options
    return SmileNet(DOMAIN, MLP(5, (7,), 4) if backbone is None else backbone, 4, **options)


def rows(n=64) -> np.ndarray:
    return DOMAIN.sample(n, np.random.default_rng(0))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model"
    bundle.save_net(path, network(), documents={"properties.json": {"claims": []}})
    return path


# ---- round trip -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("auxiliaries", ["constant", "affine", "relu"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_round_trip_is_bit_identical(tmp_path, boxes, auxiliaries, dtype):
    net = network(
        MLP(5, (7, 3), 4).to(dtype),
        boxes=boxes,
        auxiliaries=auxiliaries,
        outputs=("p", "q"),
        output_scale=[1e-3, 700.0],
    )
    bundle.save_net(tmp_path / "model", net, model={"task": "regression"}, documents={"history.json": [1.5, None]})
    again, documents = bundle.load_net(tmp_path / "model")
    assert (again.predict(rows()) == net.predict(rows())).all()
    assert again.snapshot().digest == net.snapshot().digest
    assert again.describe() == net.describe()
    assert documents["model.json"]["task"] == "regression"
    assert documents["history.json"] == [1.5, None]


def test_head_is_stored_in_the_users_units(tmp_path):
    from safetensors.torch import load

    net = network(output_scale=1000.0)
    bundle.save_net(tmp_path / "model", net)
    stored = load((tmp_path / "model" / "weights.safetensors").read_bytes())
    snapshot = net.snapshot()
    assert (stored["head_weight"].numpy() == snapshot.head_weight).all()
    assert (stored["head_bias"].numpy() == snapshot.head_bias).all()
    assert {stored[k].dtype for k in stored if not k.startswith("backbone.")} == {torch.float64}


def test_a_head_that_its_scale_would_round_is_refused(tmp_path):
    net = network(output_scale=2.0**-100)
    with torch.no_grad():
        net.head_bias.fill_(1e-300)
    with pytest.raises(SmileError, match="too small for their scale"):
        bundle.save_net(tmp_path / "model", net)
    assert list(tmp_path.iterdir()) == []


def test_convolutional_backbone(tmp_path):
    domain = Domain.box([0.0] * 49, [1.0] * 49)
    net = SmileNet(domain, ConvNet(7, (2, 3), 4, 3), 3)
    bundle.save_net(tmp_path / "model", net)
    again, _ = bundle.load_net(tmp_path / "model")
    x = np.random.default_rng(0).uniform(size=(9, 49))
    assert (again.predict(x) == net.predict(x)).all()


def test_loading_leaves_the_random_state_alone(saved):
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    bundle.load_net(saved)
    assert torch.equal(torch.rand(3), expected)


class Tied(nn.Module):
    """A backbone of the user's own; two layers share one weight."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 5)
        self.second = nn.Linear(5, 5)
        self.second.weight = self.first.weight
        self.last = nn.Linear(5, 4)

    def forward(self, u):
        return self.last(self.second(torch.tanh(self.first(u))))


def test_custom_backbone(tmp_path):
    net = network(Tied())
    bundle.save_net(tmp_path / "model", net)
    with pytest.raises(SmileError, match="pass backbone="):
        bundle.load_net(tmp_path / "model")
    again, _ = bundle.load_net(tmp_path / "model", backbone=Tied())
    assert (again.predict(rows()) == net.predict(rows())).all()
    with pytest.raises(SmileError, match="pass the backbone it was saved with"):
        bundle.load_net(tmp_path / "model", backbone=nn.Linear(5, 4))


class Own(nn.Module):
    """A pinned module of the user's own."""

    def __init__(self, width=3):
        super().__init__()
        self.layer = nn.Linear(2, width)
        self.last = nn.Linear(width, 2)

    def forward(self, y):
        return self.last(torch.tanh(self.layer(y)))


class Neighbours(Own):
    """One that looks at the other rows of its batch."""

    def forward(self, y):
        return super().forward(y - y.mean(dim=0))


def test_a_pinned_module_that_looks_at_other_rows_is_noticed(tmp_path):
    branches = [Branch("", [2, 3, 4]), Branch("centre", [0, 1], [Pinned(Neighbours(), 2)])]
    net = network(MLP(5, (7,), 4), auxiliaries="affine", encoder=Encoder(DOMAIN, branches))
    bundle.save_net(tmp_path / "model", net)
    with pytest.raises(SmileError, match="branch 'centre' looks at the other rows of a batch"):
        bundle.load_net(tmp_path / "model", modules={"centre": Neighbours()})


def test_pinned_modules_of_the_users_own(tmp_path):
    branches = [
        Branch("", [2, 3, 4]),
        Branch("centre", [0, 1], [Pinned(Own(), 2)]),
        Branch("known", [1], [Pinned(MLP(1, (3,), 2), 2)]),
    ]
    net = network(MLP(5, (7,), 4), auxiliaries="affine", encoder=Encoder(DOMAIN, branches))
    bundle.save_net(tmp_path / "model", net)
    with pytest.raises(SmileError, match=r"branches 'centre' \(.*Own\); .*modules={'centre': …}"):
        bundle.load_net(tmp_path / "model")
    again, _ = bundle.load_net(tmp_path / "model", modules={"centre": Own()})
    assert (again.predict(rows()) == net.predict(rows())).all()
    with pytest.raises(SmileError, match="no pinned branch 'center'; it has 'centre', 'known'"):
        bundle.load_net(tmp_path / "model", modules={"center": Own()})
    with pytest.raises(SmileError, match="weights"):
        bundle.load_net(tmp_path / "model", modules={"centre": Own(4)})


# ---- reading --------------------------------------------------------------------------------------------------------


def test_every_altered_file_is_noticed(saved):
    for path in sorted(saved.iterdir()):
        original = path.read_bytes()
        for position in (0, len(original) // 2, len(original) - 2):
            changed = bytearray(original)
            changed[position] ^= 1
            path.write_bytes(bytes(changed))
            with pytest.raises(AlteredError, match=path.name):
                bundle.load_net(saved)
        path.write_bytes(original + b" ")
        if path.name != "manifest.json":  # white space after the manifest changes nothing it says
            with pytest.raises(AlteredError, match=path.name):
                bundle.load_net(saved)
        path.write_bytes(original)
    bundle.load_net(saved)


def test_every_missing_file_is_named(saved):
    for path in sorted(saved.iterdir()):
        original = path.read_bytes()
        path.unlink()
        with pytest.raises(SmileError, match=f"{path.name}' is missing") as caught:
            bundle.load_net(saved)
        assert not isinstance(caught.value, AlteredError)
        path.write_bytes(original)


def test_a_file_that_the_manifest_does_not_list_is_missing(tmp_path):
    folder.write_folder(tmp_path / "model", {"model.json": b"{}"})
    with pytest.raises(SmileError, match="'weights.safetensors' is missing"):
        bundle.load_net(tmp_path / "model")


def test_no_folder_and_a_file_in_its_place(tmp_path):
    with pytest.raises(SmileError, match="There is no model folder"):
        bundle.load_net(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(SmileError, match="is a file, not a model folder"):
        bundle.load_net(tmp_path / "file")


def rewrite(path, change):
    """Change the manifest and give it a digest that fits."""
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    manifest["digest"] = folder._digest(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))


def test_a_later_format_is_bad_input(saved):
    rewrite(saved, lambda manifest: manifest.update(version=99))
    with pytest.raises(SmileError, match="format version 99") as caught:
        bundle.load_net(saved)
    assert not isinstance(caught.value, AlteredError)


def test_a_manifest_cannot_point_outside(saved):
    rewrite(saved, lambda manifest: manifest["files"].update({"../x": {"sha256": "", "bytes": 0}}))
    with pytest.raises(AlteredError, match="not a plain file name"):
        bundle.load_net(saved)


def replace_file(path, name, data):
    files = folder.read_folder(path)
    folder.write_folder(path, {**files, name: data}, overwrite=True)


def replace_tensor(path, name, change):
    from safetensors.torch import load, save

    tensors = load((path / "weights.safetensors").read_bytes())
    tensors[name] = change(tensors[name])
    replace_file(path, "weights.safetensors", save(tensors))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", ["lower.weight", "second.out", "head_bias", "backbone.0.weight"])
def test_non_finite_weights_are_refused_on_loading(saved, name, value):
    def poison(tensor):
        tensor = tensor.clone()
        tensor.view(-1)[0] = value
        return tensor

    replace_tensor(saved, name, poison)
    with pytest.raises(SmileError, match=f"{name}.*not finite"):
        bundle.load_net(saved)


def test_non_finite_weights_are_refused_on_saving(tmp_path):
    net = network()
    with torch.no_grad():
        net.lower.const[0] = float("nan")
    with pytest.raises(SmileError, match=r"'lower.const'.*not finite"):
        bundle.save_net(tmp_path / "model", net)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("second.const", lambda t: -t - 1, "negative weights"),
        ("lower.weight", lambda t: t.float(), "float32"),
        ("head_weight", lambda t: t[:, :2].contiguous(), "shape"),
        ("extra", lambda t: t, "differ in the tensors 'extra'"),
    ],
)
def test_tensors_that_do_not_fit(saved, name, change, message):
    if name == "extra":
        from safetensors.torch import load, save

        tensors = load((saved / "weights.safetensors").read_bytes())
        replace_file(saved, "weights.safetensors", save({**tensors, "extra": torch.zeros(1)}))
    else:
        replace_tensor(saved, name, change)
    with pytest.raises(SmileError, match=message):
        bundle.load_net(saved)


def test_weights_that_are_no_safetensors(saved):
    replace_file(saved, "weights.safetensors", b"\x80\x04pickle")
    with pytest.raises(SmileError, match="not a readable safetensors file"):
        bundle.load_net(saved)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "a": 2}', "'a' appears twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": 1e999}', "1e999"),
        (b"\xff", "decode"),
        (b"{", "not readable JSON"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_strict_json(data, message):
    with pytest.raises(SmileError, match=message):
        folder.parse_json(data, "x.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["net"].pop("boxes"),
        lambda d: d["net"].update(output_scale=[3.0]),
        lambda d: d.pop("net"),
        lambda d: d["net"].update(embedding=None),
    ],
)
def test_descriptions_that_do_not_fit(saved, change):
    document = json.loads((saved / "model.json").read_text())
    change(document)
    replace_file(saved, "model.json", json.dumps(document).encode())
    with pytest.raises(SmileError, match=r"model\.json"):
        bundle.load_net(saved)


# ---- writing --------------------------------------------------------------------------------------------------------


def test_an_existing_folder_is_refused(saved):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    with pytest.raises(SmileError, match="exists; remove it or choose another name"):
        bundle.save_net(saved, network())
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_overwrite_replaces_models_only_and_keeps_strangers(saved, tmp_path):
    (saved / "notes.txt").write_text("mine")
    (saved / "plots").mkdir()
    (saved / "plots" / "a.png").write_bytes(b"1")
    bundle.save_net(saved, network(output_scale=1.0), overwrite=True)
    net, documents = bundle.load_net(saved)
    assert net.output_scale.item() == 1.0
    assert "properties.json" not in documents and not (saved / "properties.json").exists()
    assert (saved / "notes.txt").read_text() == "mine"
    assert (saved / "plots" / "a.png").read_bytes() == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("years of work")
    with pytest.raises(SmileError):
        bundle.save_net(tmp_path / "other", network(), overwrite=True)
    assert (tmp_path / "other" / "thesis.txt").exists()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("crash_at", range(1, 8))
@pytest.mark.parametrize("exchange", [True, False])
def test_a_crash_in_the_middle_leaves_the_old_model_or_nothing(tmp_path, monkeypatch, overwrite, crash_at, exchange):
    path = tmp_path / "model"
    if overwrite:
        bundle.save_net(path, network(output_scale=1.0))
    if not exchange:
        monkeypatch.setattr(folder, "_exchange", lambda a, b: False)
    calls = 0

    def crash(real):
        def wrapped(*args):
            nonlocal calls
            calls += 1
            if calls == crash_at:
                raise KeyboardInterrupt
            return real(*args)

        return wrapped

    monkeypatch.setattr(os, "fsync", crash(os.fsync))
    monkeypatch.setattr(os, "rename", crash(os.rename))
    finished = True
    try:
        bundle.save_net(path, network(output_scale=2.0), overwrite=overwrite)
    except KeyboardInterrupt:
        finished = False
    monkeypatch.undo()
    if path.exists():
        net, _ = bundle.load_net(path)
        assert net.output_scale.item() == 2.0 or (overwrite and not finished)
    else:
        assert not overwrite and not finished
    assert [entry.name for entry in tmp_path.iterdir()] in ([], ["model"])


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(SmileError, match="cannot be written"):
        bundle.save_net(tmp_path / "file" / "model", network())
