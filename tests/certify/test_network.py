"""A network of your own, however it was trained, as a certified folder and back; the checker gives the verdicts."""

import shutil

import numpy as np
import pytest
import torch
from tests.forked import COMMAND, forked
from torch import nn

import smilenn
from smilenn import AlteredError, Domain, Fair, Monotone, Robust, SmileError, SmileNet, certify_net, check, open_net
from smilenn.model.folder import read_folder, write_folder

DOMAIN = Domain.box([0, 0], [1, 1], names=["x", "y"])


class Backbone(nn.Module):
    """Somebody's own."""

    def __init__(self, inputs=2, embedding=3):
        super().__init__()
        self.layer = nn.Linear(inputs, embedding)

    def forward(self, u):
        return torch.sin(3 * self.layer(u))


def network(**options):
    torch.manual_seed(0)
    net = SmileNet(DOMAIN, Backbone(), 3, hidden=4, **options)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    x = torch.tensor(DOMAIN.sample(64, np.random.default_rng(0)))
    for _ in range(5):
        optimiser.zero_grad()
        ((net(x)[:, 0] - x.sum(dim=1)) ** 2).mean().backward()
        optimiser.step()
        net.project_()
    return net.eval()


TRUE, FALSE = Robust(0.5, eps=100), Robust(0.5, eps=1e-6)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("network") / "net"
    return certify_net(network(), [TRUE], folder), folder


def test_there_and_back(saved):
    made, folder = saved
    assert made.verdict.status == "proved" and made.verdict.certificate and made.verdict.weights
    assert check(folder, reference=True).status == "proved"
    again = open_net(folder, backbone=Backbone)
    assert again.verdict.certificate == made.verdict.certificate and again.properties == (TRUE,)
    x = DOMAIN.sample(50, np.random.default_rng(1))
    assert np.array_equal(again.net.predict(x), made.net.predict(x))
    assert "changes the output by at most 100" in again.certificate.statement and "'x' in [0.0, 1.0]" in (
        again.certificate.statement
    )
    assert forked(COMMAND, "check", folder)[0] == 0


def test_what_is_not_proved_is_unknown_with_its_bound(tmp_path):
    found = certify_net(network(), [TRUE, FALSE], tmp_path / "net", time_limit=5)
    assert found.verdict.status == "unknown" and 0 < found.verdict.bound < 100
    assert found.certificate.holds == (True, False)
    assert open_net(tmp_path / "net", backbone=Backbone()).verdict.status == check(tmp_path / "net").status == "unknown"


@pytest.mark.parametrize("change", ["weights", "hook", "profile"])
def test_a_changed_network_is_not_what_was_checked(tmp_path, change):
    found = certify_net(network(), [TRUE], tmp_path / "net")
    assert found.verdict.status == "proved"
    if change == "weights":
        with torch.no_grad():
            found.net.head_weight *= 2
    elif change == "hook":
        found.net.register_forward_hook(lambda *_: None)
    else:
        found.net.set_profile("fixed-order")
    assert found.verdict.status == "unknown" and "was changed" in found.verdict.reason


def test_a_backbone_may_change(saved):
    made, _ = saved
    before = made.net.predict(DOMAIN.sample(20, np.random.default_rng(0)))
    with torch.no_grad():
        made.net.backbone.layer.weight += 1.0
    assert not np.array_equal(made.net.predict(DOMAIN.sample(20, np.random.default_rng(0))), before)
    assert made.verdict.status == "proved"  # whatever the backbone does


def test_verdicts_come_from_the_checker(saved, tmp_path):
    _, folder = saved
    files = dict(read_folder(folder))
    files["certificate.bin"] = files["certificate.bin"][:-1] + bytes([files["certificate.bin"][-1] ^ 1])
    write_folder(tmp_path / "forged", files)
    with pytest.raises(AlteredError, match="does not check"):
        open_net(tmp_path / "forged", backbone=Backbone)
    bare = {name: data for name, data in read_folder(folder).items() if not name.startswith("certificate")}
    write_folder(tmp_path / "bare", bare)
    found = open_net(tmp_path / "bare", backbone=Backbone)
    assert found.certificate is None and found.verdict.status == "unknown" and "no certificate" in found.verdict.reason
    shutil.copytree(folder, tmp_path / "altered")
    (tmp_path / "altered" / "weights.safetensors").write_bytes(files["weights.safetensors"][:-1] + b"\0")
    with pytest.raises(AlteredError):
        open_net(tmp_path / "altered", backbone=Backbone)


def test_an_estimators_folder_opens_too(tmp_path):
    rng = np.random.default_rng(0)
    x = DOMAIN.sample(60, rng)
    model = smilenn.SmileRegressor(
        properties=[Fair(["y"], 5)], domain=DOMAIN, config=smilenn.Config(epochs=2), random_state=0
    ).fit(DOMAIN.decode(x), x.sum(axis=1))
    model.save(tmp_path / "model")
    found = open_net(tmp_path / "model")
    assert found.verdict.status == model.verdict_.status == "proved"
    assert np.array_equal(found.net.predict(x)[:, 0], model.predict(DOMAIN.decode(x)))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (lambda place: certify_net(nn.Linear(2, 1), [TRUE], place), "takes a SmileNet, not Linear"),
        (lambda place: certify_net(network(), [], place), "nothing to certify"),
        (lambda place: certify_net(network(), [Monotone(increasing=["z"])], place), "not a feature"),
        (lambda place: certify_net(network().float(), [TRUE], place), "float64"),
        (lambda place: certify_net(_hooked(), [TRUE], place), "the network carries code"),
        (lambda place: certify_net(network(), [TRUE], _existing(place)), "exists"),
        (lambda place: open_net(place), "There is no model folder"),
        (lambda place: smilenn.load(_written(place), backbone=Backbone), "open_net"),
        (lambda place: open_net(_written(place)), "backbone"),
    ],
)
def test_errors_say_what_to_do(tmp_path, what, said):
    with pytest.raises(SmileError, match=said):
        what(tmp_path / "net")


def _hooked():
    net = network()
    net.lower.register_forward_hook(lambda *_: None)
    return net


def _existing(place):
    place.mkdir()
    return place


def _written(place):
    certify_net(network(), [TRUE], place)
    return place
