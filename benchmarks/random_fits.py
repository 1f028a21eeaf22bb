"""One hundred random fits: how many end certified, beat the constant, and are repaired cheaply.

python -m benchmarks random_fits        (RANDOM_FITS=20 for fewer)
"""

import os
import warnings

from smilenn.experiments.random_fits import fit_one, summary


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for seed in range(int(os.environ.get("RANDOM_FITS", "100"))):
        rows.append(fit_one(seed))
        row = rows[-1]
        print(
            f"{seed:3d} {'certified' if row['certified'] else row['status']:9s} {row['quality']:6.2f} "
            f"(constant {row['constant']:5.2f}) repair {row['repair']:6.3f} {row['seconds']:4.0f} s "
            f"{row['properties']}",
            flush=True,
        )
    print(summary(rows))


if __name__ == "__main__":
    main()
