"""What a network shall obey: properties by name, claims in words, and exact claims underneath."""

from smilenn.properties.alternatives import OneOf
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim, Inequality, Term, exact, number, row
from smilenn.properties.custom import Custom, Safe
from smilenn.properties.forms import Outputs
from smilenn.properties.language import parse_row
from smilenn.properties.library import Concave, Convex, Dominates, Fair, Lipschitz, Monotone, Robust, Symmetric
from smilenn.properties.local import LocalRobust
from smilenn.properties.outputs import Bounded, Exclusive, Ordered, SumAtMost
from smilenn.properties.premise import Premise, ground, holds_exactly
from smilenn.properties.registry import register_property
from smilenn.properties.spec import (
    as_property,
    load_properties,
    lower_all,
    properties_from_json,
    properties_to_json,
    property_from_json,
    read_toml,
)
from smilenn.properties.tokens import ClaimSyntaxError
from smilenn.properties.unregistered import Unregistered, UnregisteredWarning

__all__ = [
    "Bounded",
    "Claim",
    "ClaimSyntaxError",
    "Concave",
    "Convex",
    "Custom",
    "Dominates",
    "Exclusive",
    "Fair",
    "Inequality",
    "Lipschitz",
    "LocalRobust",
    "Monotone",
    "OneOf",
    "Ordered",
    "Outputs",
    "Premise",
    "Property",
    "Robust",
    "Safe",
    "SumAtMost",
    "Symmetric",
    "Term",
    "Unregistered",
    "UnregisteredWarning",
    "as_property",
    "exact",
    "ground",
    "holds_exactly",
    "load_properties",
    "lower_all",
    "number",
    "parse_row",
    "properties_from_json",
    "properties_to_json",
    "property_from_json",
    "read_toml",
    "register_property",
    "row",
]
