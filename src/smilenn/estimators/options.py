"""Options that most people leave alone, as values: `Network` shapes the network, `Columns` the domain that is learned.

Both are frozen. Their fields are parameters of the estimator under scikit-learn's double underscore, so that a grid
search can vary them::

    GridSearchCV(SmileRegressor(increasing=["income"]), {"network__hidden": [8, 16]})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from smilenn.domain import Domain, Kind, Scaling, check_learning
from smilenn.errors import SmileError, listed
from smilenn.model.answers import is_estimator

if TYPE_CHECKING:
    import numpy as np
    from torch import nn

    from smilenn.model.auxiliaries import AuxiliaryKind
    from smilenn.model.encoders import Encoder
    from smilenn.model.snapshot import Boxes
    from smilenn.train.recipes import Design

    EncoderMaker = Callable[[Domain, np.ndarray], Encoder]

# names to choose from; the network's own modules import torch
ENCODERS = ("auto", "image", "none")
CHOICES = {"boxes": ("gap", "paper"), "auxiliaries": ("constant", "affine", "relu")}
SIZES = ("hidden", "embedding", "members", "restarts")
OF_PLAIN = ("hidden", "embedding", "backbone_sizes")  # of a network that an ensemble has no use for
SAYS = (
    ("bounds", "(lowest, highest)"),
    ("kinds", "kind"),
    ("groups", "one-hot columns"),
    ("order", "names, lowest first"),
)


class Nested:
    """A frozen dataclass whose fields scikit-learn knows as nested parameters."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The fields by name, as an estimator's `get_params` asks for them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def changed(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        self.check_names(changes)
        return replace(self, **changes)

    @classmethod
    def check_names(cls, given: Mapping[str, Any]) -> None:
        """Names that are not fields are refused."""
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise SmileError(f"{cls.__name__} has no option {listed(unknown)}; it has {listed(known, 20)}.")

    def __sklearn_clone__(self) -> Self:
        """A copy that shares nothing with this one; an encoder is trained in place."""
        from sklearn.base import clone  # the commands judge options without scikit-learn

        return replace(self, **{name: clone(value, safe=False) for name, value in self.get_params().items()})

    def __repr__(self) -> str:
        """What differs from the defaults."""
        changed = [field for field in fields(self) if not _same(getattr(self, field.name), field.default)]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Network(Nested):
    """How the network is built, and where and how often it is trained. The defaults suit most tables; `explain()` says
    what was chosen and why.

    Parameters
    ----------
    encoder : what stands before the auxiliaries. ``auto`` chooses by the properties; ``image`` too, knowing that the
        columns are the pixels of a square image (distance nets for `Robust`). Columns of numbers are continuous then,
        whole ones and constant ones too. ``none`` is the paper's network without an encoder. Or an `Encoder` over the
        domain, or a function (domain, u [n, m] in model units) → `Encoder`, whose coordinates are averaged. With other
        `boxes` or `auxiliaries` than the default, ``auto`` is ``none``; with a torch `backbone` too, unless a fixed box
        around it implies the properties; without properties also with another `hidden`, `embedding` or
        `backbone_sizes`.
    boxes : ``gap`` or ``paper``; of a network without encoder, as the three options that follow. See `SmileNet`.
    auxiliaries : ``constant``, ``affine`` or ``relu``.
    hidden : hidden units of ``relu`` auxiliaries.
    embedding : outputs of the backbone.
    backbone : a function (inputs, embedding) → module; None for a multilayer perceptron of `backbone_sizes`. Or an
        estimator with `predict`, or `predict_proba` to decide classes: a fitted one is taken as it is, a clone of
        another is fitted to the rows that are not held out. Its answers are cut to a certified box, which rules with an
        ε above 0, and rules on single inputs, leave it; `backbone_` is the fitted one (docs/estimators.md).
    backbone_sizes : widths of its hidden layers.
    backbone_share : the part of ε that distance nets leave to a backbone, from 0 to less than 1. The backbone decides
        where the distances are unsure: more accurate on unchanged inputs, fewer of them verified. Other networks share
        ε by themselves.
    members : networks of each kind in the ensembles that ``auto`` chooses, and boosters beside them; of more than 5,000
        rows half as many networks. Fewer are faster and usually a little less accurate (docs/performance.md has the
        measured trade-off).
    restarts : how many networks to train from different seeds; the best is kept, a proved one before others. One whose
        auxiliaries die in pretraining does not count.
    device : torch device for training, ``cpu`` or ``cuda``.

    >>> Network(hidden=8)
    Network(hidden=8)
    """

    encoder: Literal["auto", "image", "none"] | Encoder | EncoderMaker = "auto"
    boxes: Boxes = "gap"
    auxiliaries: AuxiliaryKind = "relu"
    hidden: int = 16
    embedding: int = 8
    backbone: Callable[[int, int], nn.Module] | Any = None
    backbone_sizes: Sequence[int] = (32, 32)
    backbone_share: float = 0.0
    members: int = 4
    restarts: int = 1
    device: str = "cpu"

    def __post_init__(self) -> None:
        self._check_choices()
        if isinstance(self.hidden, Sequence) and not isinstance(self.hidden, str):
            raise SmileError(
                f"hidden is one whole number here, not {self.hidden!r}; smilenn.fit_deep fits and certifies models "
                "whose box has several hidden layers."
            )
        for name in SIZES:
            _check_size(name, getattr(self, name))
        sizes = self.backbone_sizes
        if isinstance(sizes, str) or not isinstance(sizes, Sequence):
            raise SmileError(f"backbone_sizes lists widths of layers, as in (32, 32), not {sizes!r}.")
        for size in sizes:
            _check_size("a width of backbone_sizes", size)
        object.__setattr__(self, "backbone_sizes", tuple(sizes))
        if not (isinstance(self.backbone_share, Real) and 0 <= self.backbone_share < 1):
            raise SmileError(f"backbone_share is a share of ε, from 0 to less than 1, not {self.backbone_share!r}.")

    @property
    def image(self) -> bool:
        """Whether the columns are the pixels of a square image."""
        return isinstance(self.encoder, str) and self.encoder == "image"

    @property
    def estimator(self) -> bool:
        """Whether the backbone is an estimator, fitted or to be fitted, rather than a function that makes a module."""
        return is_estimator(self.backbone)

    def design(self) -> Design:
        """The options as training reads them, and whether sizes were chosen that only a plain network has.

        What is known of an estimator as backbone comes with the table (estimators/backbone.py).
        """
        from smilenn.train.recipes import Design

        options, usual = self.get_params(), type(self)().get_params()
        options |= {"backbone": None} if self.estimator else {}
        sized = any(options[name] != usual[name] for name in OF_PLAIN)
        return Design(**{name: value for name, value in options.items() if name != "restarts"}, sized=sized)

    def _check_choices(self) -> None:
        """Names are known ones, and functions are functions."""
        if self.encoder not in ENCODERS if isinstance(self.encoder, str) else not callable(self.encoder):
            given = f"an Encoder or a function (domain, u) → Encoder, not {self.encoder!r}."
            raise SmileError(f"encoder is 'auto', 'image', 'none', {given}")
        for name, names in CHOICES.items():
            if getattr(self, name) not in names:
                raise SmileError(f"{name} is {_either(names)}, not {getattr(self, name)!r}.")
        if not isinstance(self.device, str):
            raise SmileError(f"device is a torch device such as 'cpu' or 'cuda', not {self.device!r}.")
        if isinstance(self.backbone, type) and hasattr(self.backbone, "predict"):
            raise SmileError(f"backbone is the class {self.backbone.__name__}; give an estimator, with brackets.")
        if self.backbone is not None and not callable(self.backbone) and not self.estimator:
            raise SmileError(
                "backbone is an estimator with predict, or a function (inputs, embedding) → torch module, not "
                f"{self.backbone!r}."
            )


@dataclass(frozen=True, kw_only=True, repr=False)
class Columns(Nested):
    """How the domain is learned from the columns of X; the fields are those of `Domain.from_data`.

    Parameters
    ----------
    bounds : column → (lowest, highest) value in raw units. Other columns get the range of the data, widened by
        `margin`.
    kinds : column → ``continuous``, ``integer``, ``binary`` or ``category``, where the data suggests another.
    groups : name of a category → its columns, which are one-hot encoded already.
    order : column → its names, lowest first. Rules then treat it as whole numbers: 0 is the first name.
    margin : share of a column's range that is added at both ends.
    scaling : model units: ``unit`` maps a column's range to [0, 1], ``standard`` to mean 0 and deviation 1 of the data,
        ``none`` leaves raw units.

    >>> Columns(bounds={"age": (18, 90)})
    Columns(bounds={'age': (18, 90)})
    """

    bounds: Mapping[str, tuple[float, float]] | None = None
    kinds: Mapping[str, Kind] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    order: Mapping[str, Sequence[str]] | None = None
    margin: float = 0.05
    scaling: Scaling = "unit"

    def __post_init__(self) -> None:
        for name, says in SAYS:
            value = getattr(self, name)
            if value is not None and not isinstance(value, Mapping):
                raise SmileError(f"{name} is a dictionary column → {says}, not {value!r}.")
            if value is not None:
                frozen = {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()}
                object.__setattr__(self, name, frozen)
        for column, kind in (self.kinds or {}).items():
            if kind not in get_args(Kind):
                raise SmileError(f"kinds: {column!r} is {_either(get_args(Kind))}, not {kind!r}.")
        check_learning(self.margin, self.scaling)

    def learned(self, data: Any, *, missing: bool = False, pool: Callable[[str], bool] = lambda name: False) -> Domain:
        """The domain of a data frame or array [n, m]; `missing` and `pool` as in `Domain.from_data`."""
        return Domain.from_data(
            data,
            kinds=self.kinds,
            bounds=self.bounds,
            groups=self.groups,
            order=self.order,
            margin=self.margin,
            scaling=self.scaling,
            missing=missing,
            pool=pool,
        )

    @property
    def named(self) -> frozenset[str]:
        """The columns that an option names."""
        groups = [column for columns in (self.groups or {}).values() for column in columns]
        return frozenset([*(self.bounds or {}), *(self.kinds or {}), *(self.order or {}), *groups])


# the parameters of estimators that hold options
NESTED: dict[str, type[Nested]] = {"network": Network, "domain": Columns}


def network_of(value: Network | None) -> Network:
    """The parameter `network`: None is the default."""
    if value is None:
        return Network()
    if not isinstance(value, Network):
        raise SmileError(f"network is a Network, as in network=Network(hidden=8), not {value!r}.")
    return value


def domain_of(value: Domain | Columns | Mapping[str, Any] | None) -> Domain | Columns:
    """The parameter `domain`: a domain that is known, or how to learn one; a mapping holds the fields of `Columns`."""
    if isinstance(value, Mapping):
        Columns.check_names(value)
        return Columns(**value)
    if value is None:
        return Columns()
    if not isinstance(value, (Domain, Columns)):
        raise SmileError(f"domain is a Domain or Columns, as in domain=Columns(margin=0.1), not {value!r}.")
    return value


def known_domain(value: Domain | Columns | Mapping[str, Any] | None) -> Domain | None:
    """The domain, where the parameter brings one."""
    return value if isinstance(value, Domain) else None


def _check_size(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise SmileError(f"{name} must be a whole number, not {value!r}.")
    if value < 1:
        raise SmileError(f"{name} must be at least 1, not {value}.")


def _either(names: Sequence[str]) -> str:
    """``'gap' or 'paper'``."""
    return f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)
