"""Numbers the paper prints, for the first column of the tables. Its heat map and scatter plots print none."""

from __future__ import annotations

DELTAS = (0.010, 0.025, 0.050, 0.075, 0.100)

# δ → (clean, PGD, verified) in per cent, on the first 1,000 test images
ROBUSTNESS: dict[str, dict[float, tuple[float, float, float]]] = {
    "agnostic": {
        0.010: (99.60, 99.50, 0.0),
        0.025: (99.60, 98.40, 0.0),
        0.050: (99.60, 90.40, 0.0),
        0.075: (99.60, 75.70, 0.0),
        0.100: (99.60, 66.80, 0.0),
    },
    "crown-ibp": {
        0.010: (100.00, 99.90, 99.90),
        0.025: (99.80, 99.70, 99.60),
        0.050: (99.70, 99.40, 99.20),
        0.075: (99.60, 99.20, 99.20),
        0.100: (99.60, 99.30, 99.00),
    },
    "smile": {
        0.010: (98.80, 98.47, 97.57),
        0.025: (98.60, 97.90, 96.37),
        0.050: (97.87, 96.07, 94.33),
        0.075: (97.07, 94.20, 92.37),
        0.100: (95.87, 92.17, 90.57),
    },
}
# seconds: training, and predicting plus verifying 1,000 images
TRAINING = {"crown-ibp": 14138.0, "smile": 7717.0}
PREDICTING = {"agnostic": 0.02, "crown-ibp": 11.20, "smile": 0.03}
