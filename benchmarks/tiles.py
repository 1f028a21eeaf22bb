"""Tiles and parts of the Triton kernels of distance nets: milliseconds of each on a GPU, and whether bits are the same.

    python -m benchmarks.tiles [--units 2560] [--rows 128] [--power 26]

A layer of `units` inputs and `units` outputs, two copies of every kernel beside each other, as two nets learn. A part
goes through its terms in one order whatever the tile, so the last column says `same` for every tile.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch

from smilenn.model.encoders.powers import power_near

SIDES = ((64, 32, 2), (32, 32, 4), (64, 32, 4), (64, 64, 4), (128, 32, 4))
PARTS = (1, 2, 4, 8)
TIMES, NETS = 12, 2


def milliseconds(call: Callable[[], torch.Tensor]) -> float:
    """Of one call of each of the streams, which run beside each other."""
    streams = [torch.cuda.Stream() for _ in range(NETS)]
    now = torch.cuda.current_stream()
    begun, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begun.record()
    for stream in streams:
        stream.wait_stream(now)
        with torch.cuda.stream(stream):
            for _ in range(TIMES):
                call()
    for stream in streams:
        now.wait_stream(stream)
    ended.record()
    torch.cuda.synchronize()
    return begun.elapsed_time(ended) / TIMES


def main() -> None:
    """Time forward and both backward sums with every tile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=2560)
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--power", type=float, default=26.0)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a GPU.")
    from smilenn.model.encoders.distance_triton import NORMS, Tile, norms, slopes

    torch.manual_seed(0)
    power = power_near(args.power)
    x = torch.randn(args.units, args.rows, device="cuda")
    w = torch.randn(args.units, args.units, device="cuda")
    out, _ = norms(x, w, power)
    s, g = 1 / out, torch.randn_like(out)
    w_turned, x_turned, s_turned, g_turned = (one.T.contiguous() for one in (w, x, s, g))
    sums: dict[str, Callable[..., torch.Tensor]] = {
        "forward": lambda *how: norms(x, w, power, *how)[0],
        "gradient in x": lambda *how: slopes(x, w_turned, s, g, power, *how),
        "gradient in w": lambda *how: slopes(w, x_turned, s_turned, g_turned, power, *how),
    }
    for name, call in sums.items():
        print(f"{name:14} as chosen         {milliseconds(call):6.3f}", flush=True)
        for parts in PARTS[:2] if name.endswith("w") else PARTS:
            known = call(NORMS, parts)
            for tile in (Tile(*sides) for sides in SIDES):
                same = torch.equal(call(tile, parts), known)
                took = milliseconds(lambda call=call, tile=tile, parts=parts: call(tile, parts))
                print(f"{name:14} {tile.rows:3} x {tile.columns} / {tile.warps}, {parts} parts {took:6.3f} ", end="")
                print("same" if same else "OTHER BITS", flush=True)


if __name__ == "__main__":
    main()
