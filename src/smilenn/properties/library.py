"""The properties people ask for by name; each lowers to claims ``∀ copies ∈ X : Q ⇒ R``.

    order.py      Monotone, Dominates          which way the output moves
    change.py     Robust, Fair, Lipschitz      how far it moves
    curvature.py  Convex, Concave              which way it bends
    symmetry.py   Symmetric                    features that trade places

f is the output; of several outputs each by itself or the one that `output` names, of several classes every margin
between two or the margins of the one named over each other (forms.py). Claims in words, `Safe` and `Custom`, are in
custom.py, those about how outputs stand to each other in outputs.py.
"""

from smilenn.properties.change import Fair, Lipschitz, Robust
from smilenn.properties.curvature import Concave, Convex
from smilenn.properties.order import Dominates, Monotone
from smilenn.properties.output_property import OutputProperty
from smilenn.properties.symmetry import Symmetric

__all__ = ["Concave", "Convex", "Dominates", "Fair", "Lipschitz", "Monotone", "OutputProperty", "Robust", "Symmetric"]
