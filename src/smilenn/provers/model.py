"""``smilenn.prove``: the claims of a model, proved or refuted on the model as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from smilenn.errors import SmileError
from smilenn.problem import build
from smilenn.properties.claim import Claim
from smilenn.properties.spec import lower_all
from smilenn.provers.portfolio import combine, prove_problem
from smilenn.provers.proved_cases import prove_cases
from smilenn.provers.prover import Prover
from smilenn.provers.tree.tree import Trees
from smilenn.reason import Reason, told
from smilenn.verdict import Unknown, Verdict

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet


@runtime_checkable
class Fitted(Protocol):
    """A fitted model: a network, the claims it was fitted for, and its way of reading further properties."""

    net_: SmileNet
    claims_: tuple[Claim, ...]

    def lower(self, properties: Sequence[Any]) -> tuple[Claim, ...]:
        """Properties as claims on the model's domain and outputs."""
        ...


def prove(
    model: SmileNet | Fitted,
    properties: Sequence[Any] | None = None,
    *,
    prover: str | Prover = "auto",
    time_limit: float | None = 60.0,
    trees: Trees | None = None,
) -> Verdict:
    """Prove the properties of a fitted estimator or of a network, whatever its backbone does.

    Parameters
    ----------
    model : a fitted estimator, or a `SmileNet`.
    properties : properties or claims; None takes those the estimator was fitted for.
    prover : ``auto`` for the cheapest that applies, one by name, or a `Prover` of your own.
    time_limit : seconds for the whole proof; None for no limit.
    trees : trees of earlier branch-and-bounds to start from, by row; those of this one are put there.

    A proof is about auxiliaries, head and encoder as they are described: where a subclass, a hook or a method replaced
    computes something else, nothing is known. A violation is reported only when the model's own forward pass shows it
    on inputs that satisfy the premise exactly.
    """
    net, claims = _asked(model, properties)
    return prove_claims(net, claims, prover=prover, time_limit=time_limit, trees=trees)


def prove_claims(
    net: SmileNet,
    claims: Sequence[Claim],
    *,
    prover: str | Prover = "auto",
    time_limit: float | None = 60.0,
    trees: Trees | None = None,
) -> Verdict:
    """`prove` for claims that properties have been lowered to: they are taken as they are."""
    from smilenn.model.seal import foreign_part

    if reason := foreign_part(net):
        return Unknown(why=told(reason))
    snapshot = net.snapshot()
    begun, verdicts = perf_counter(), list[Verdict]()
    for done, claim in enumerate(claims):
        left = None if time_limit is None else (time_limit - (perf_counter() - begun)) / (len(claims) - done)
        if claim.either:
            verdicts.append(prove_cases(claim, snapshot, net.predict, prover=prover, time_limit=left, trees=trees))
        else:
            problem = build(claim, snapshot)
            verdicts.append(prove_problem(problem, prover=prover, time_limit=left, forward=net.predict, trees=trees))
        if isinstance(verdicts[-1], Unknown) and verdicts[-1].because(Reason.INTERRUPTED):
            break
    return combine(verdicts, complete=len(verdicts) == len(claims))


def _asked(model: SmileNet | Fitted, properties: Sequence[Any] | None) -> tuple[SmileNet, tuple[Claim, ...]]:
    """The network and what is to be proved of it."""
    if isinstance(model, Fitted):
        return model.net_, model.claims_ if properties is None else model.lower(properties)
    from smilenn.model.net import SmileNet

    if not isinstance(model, SmileNet):
        raise SmileError(f"prove takes a fitted estimator or a SmileNet, not {type(model).__name__}; fit it first.")
    if properties is None:
        raise SmileError("A bare network carries no properties; name those to prove.")
    return model, lower_all(properties, model.domain, model.outputs)
