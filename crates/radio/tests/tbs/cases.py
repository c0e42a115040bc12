#!/usr/bin/env python3
"""Transport block sizes worked out from TS 38.214 5.1.3.2 (Release 16) in exact rational arithmetic.

Writes cases.csv, which the test of crates/radio/src/tbs.rs reads. Knows nothing of the Rust code: tables and steps
are written down here a second time, in the standard's order and with its names.

    python3 crates/radio/tests/tbs/cases.py > crates/radio/tests/tbs/cases.csv
"""

import argparse
from fractions import Fraction
from math import ceil, floor

# Table 5.1.3.1-1: modulation order Q_m and target code rate R x 1024, MCS 0 to 28.
TABLE_1 = (
    [(2, r) for r in (120, 157, 193, 251, 308, 379, 449, 526, 602, 679)]
    + [(4, r) for r in (340, 378, 434, 490, 553, 616, 658)]
    + [(6, r) for r in (438, 466, 517, 567, 616, 666, 719, 772, 822, 873, 910, 948)]
)
# Table 5.1.3.1-2, MCS 0 to 27.
TABLE_2 = (
    [(2, r) for r in (120, 193, 308, 449, 602)]
    + [(4, r) for r in (378, 434, 490, 553, 616, 658)]
    + [(6, r) for r in (466, 517, 567, 616, 666, 719, 772, 822, 873)]
    + [(8, r) for r in ("682.5", 711, 754, 797, 841, 885, "916.5", 948)]
)
# Table 5.1.3.2-1, by its steps: from, to, distance. 408 follows 384, and so on.
STEPS = [
    (24, 192, 8), (208, 384, 16), (408, 576, 24), (608, 768, 32), (808, 928, 40), (984, 984, 1), (1032, 1064, 32),
    (1128, 1352, 32), (1416, 1928, 64), (2024, 2280, 64), (2408, 2856, 64), (2976, 2976, 1), (3104, 3104, 1),
    (3240, 3752, 128), (3824, 3824, 1),
]
TBS_TABLE = [size for first, last, step in STEPS for size in range(first, last + 1, step)]
assert len(TBS_TABLE) == 93


def log2_floor(value: Fraction) -> int:
    """The greatest n with 2^n <= value, without floating point; value is at least 1."""
    n = 0
    while Fraction(2) ** (n + 1) <= value:
        n += 1
    return n


def round_half_up(value: Fraction) -> int:
    """'Ties in the round function are broken towards the next largest integer.'"""
    return floor(value + Fraction(1, 2))


def tbs(n_prb: int, n_symb: int, n_dmrs: int, n_oh: int, layers: int, q_m: int, r: Fraction) -> tuple[int, str]:
    """The size in bits, and which branch of the procedure it came from."""
    # Step 1.
    n_re_prb = 12 * n_symb - n_dmrs - n_oh
    n_re = min(156, n_re_prb) * n_prb
    # Step 2.
    n_info = n_re * r * q_m * layers
    if n_info <= 3824:
        # Step 3.
        n = max(3, log2_floor(n_info) - 6)
        quantised = max(24, 2**n * floor(n_info / 2**n))
        return min(size for size in TBS_TABLE if size >= quantised), "table"
    # Step 4.
    n = log2_floor(n_info - 24) - 5
    quantised = max(3840, 2**n * round_half_up((n_info - 24) / 2**n))
    if r <= Fraction(1, 4):
        c, branch = ceil(Fraction(quantised + 24, 3816)), "low-rate"
    elif quantised > 8424:
        c, branch = ceil(Fraction(quantised + 24, 8424)), "segmented"
    else:
        return 8 * ceil(Fraction(quantised + 24, 8)) - 24, "one-block"
    return 8 * c * ceil(Fraction(quantised + 24, 8 * c)) - 24, branch


def cases():
    """Every MCS of both tables, on allocations from one resource block to 100 MHz with four layers."""
    allocations = [
        (1, 1, 0, 0, 1), (1, 4, 12, 0, 1), (2, 10, 12, 6, 1), (7, 12, 12, 0, 2), (25, 12, 36, 6, 1), (51, 13, 12, 0, 1),
        (52, 14, 0, 18, 2), (106, 12, 24, 12, 2), (133, 11, 18, 0, 3), (245, 14, 0, 0, 3), (273, 13, 12, 0, 4),
    ]
    for number, table in ((1, TABLE_1), (2, TABLE_2)):
        for index, (q_m, rate) in enumerate(table):
            for allocation in allocations:
                yield number, index, allocation, q_m, Fraction(rate) / 1024


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    branches = {}
    print("table,mcs,prbs,symbols,dmrs,overhead,layers,branch,bits")
    for number, index, allocation, q_m, r in cases():
        bits, branch = tbs(*allocation, q_m, r)
        branches[branch] = branches.get(branch, 0) + 1
        print(f"{number},{index},{','.join(map(str, allocation))},{branch},{bits}")
    assert set(branches) == {"table", "one-block", "low-rate", "segmented"}, branches


if __name__ == "__main__":
    main()
