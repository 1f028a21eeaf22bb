"""Which part of the pack supports which demand of a validator, in our own words.

The map says "supports" and no more: whether a demand is met is for the bank, the validator and the supervisor to judge.
SR 26-2 is mapped by topic, the EU AI Act (Regulation (EU) 2024/1689) by the points of its Annex IV.
"""

from __future__ import annotations

from typing import Any

NOTE = (
    "This map says which files support which demand. It is not a statement of conformity, and the demands are "
    "paraphrased: read them in the text itself."
)
BANKING, ACT = "SR 26-2", "EU AI Act, Annex IV"
# source, clause, what it asks for, the files that support it, what the pack does not hold
MAP: tuple[tuple[str, str, str, tuple[str, ...], str], ...] = (
    (
        BANKING,
        "development: design and purpose",
        "what the model is for, how it works, and what it assumes",
        ("statement.txt", "design.txt", "limits.json"),
        "the business purpose and the choice of the rules",
    ),
    (
        BANKING,
        "development: data",
        "the data, their quality and how they relate to the use",
        ("profile.json",),
        "how the data were collected and selected",
    ),
    (
        BANKING,
        "validation: conceptual soundness",
        "evidence that design and construction hold what they promise",
        ("model/certificate.json", "checkers.json", "sensitivity.json"),
        "a judgement by somebody independent of the developers",
    ),
    (
        BANKING,
        "validation: outcomes analysis",
        "predictions compared with outcomes, on rows not used in training, and with other models",
        ("quality.json", "tradeoff.json"),
        "outcomes after deployment",
    ),
    (
        BANKING,
        "monitoring",
        "what is watched in operation, with thresholds and actions",
        ("monitoring.json",),
        "who watches, how often, and who decides",
    ),
    (BANKING, "limitations", "what the model cannot do and what is uncertain", ("limits.json", "profile.json"), ""),
    (
        BANKING,
        "documentation and inventory",
        "records that let somebody else repeat the work",
        ("versions.json", "manifest.json", "pack.json", "model/manifest.json"),
        "the entry of the model in the inventory",
    ),
    (
        ACT,
        "point 1, general description",
        "purpose, versions, how the system is used",
        ("pack.json", "versions.json", "statement.txt"),
        "provider, hardware and instructions for use",
    ),
    (
        ACT,
        "point 2, elements and development",
        "methods, design choices and trade-offs, data, validation and testing with their logs",
        ("design.txt", "profile.json", "quality.json", "tradeoff.json", "checkers.json"),
        "the origin of the data and measures of human oversight",
    ),
    (
        ACT,
        "point 3, functioning and control",
        "capabilities and limits, accuracy for groups of people, what inputs must be like",
        ("quality.json", "limits.json", "profile.json", "sensitivity.json"),
        "risks to health, safety and fundamental rights",
    ),
    (
        ACT,
        "point 4, performance metrics",
        "why the metrics fit the system",
        ("quality.json",),
        "the argument why these metrics fit the use",
    ),
    (ACT, "point 5, risk management", "the risk management system", ("limits.json",), "the risk management itself"),
    (
        ACT,
        "point 6, changes",
        "changes over the system's life",
        ("manifest.json", "versions.json"),
        "the history before this pack",
    ),
    (ACT, "point 7, standards", "standards applied", (), "all of it"),
    (ACT, "point 8, declaration", "a copy of the declaration of conformity", (), "all of it"),
    (
        ACT,
        "point 9, monitoring after placing on the market",
        "a plan for monitoring in operation",
        ("monitoring.json",),
        "who carries it out",
    ),
)


def clauses() -> dict[str, Any]:
    """The map, JSON-ready."""
    keys = ("source", "clause", "asks", "supports", "not_here")
    return {
        "note": NOTE,
        "clauses": [dict(zip(keys, (*entry[:3], list(entry[3]), entry[4] or None), strict=True)) for entry in MAP],
    }
