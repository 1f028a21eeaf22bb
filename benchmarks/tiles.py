"""Tiles of the Triton kernels of distance nets: milliseconds of each on a GPU, and whether all give the same bits.

    python -m benchmarks.tiles [--units 2560] [--rows 128] [--power 26]

A layer of `units` inputs and `units` outputs, two copies of every kernel beside each other, as two nets learn. Sums run
through their terms in one order whatever the tile, so the last column says `same` for every tile.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch

from smilenn.model.encoders.powers import power_near

SIDES = ((32, 32, 4), (32, 32, 2), (64, 32, 2), (64, 32, 4), (64, 64, 4), (64, 64, 8), (16, 64, 2), (16, 32, 4))
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
    from smilenn.model.encoders.distance_triton import Tile, norms, slopes

    torch.manual_seed(0)
    power = power_near(args.power)
    x = torch.randn(args.units, args.rows, device="cuda")
    w = torch.randn(args.units, args.units, device="cuda")
    out, _ = norms(x, w, power)
    s, g = 1 / out, torch.randn_like(out)
    w_turned, x_turned, s_turned, g_turned = (one.T.contiguous() for one in (w, x, s, g))
    sums: dict[str, Callable[[Tile | None], torch.Tensor]] = {
        "forward": lambda tile: norms(x, w, power, tile)[0],
        "gradient in x": lambda tile: slopes(x, w_turned, s, g, power, tile),
        "gradient in w": lambda tile: slopes(w, x_turned, s_turned, g_turned, power, tile),
    }
    for name, call in sums.items():
        known = call(None)
        print(f"{name:14} as chosen       {milliseconds(lambda call=call: call(None)):6.3f}", flush=True)
        for sides in SIDES:
            tile = Tile(*sides)
            same = torch.equal(call(tile), known)
            took = milliseconds(lambda call=call, tile=tile: call(tile))
            print(f"{name:14} {sides!s:15} {took:6.3f} {'same' if same else 'OTHER BITS'}", flush=True)


if __name__ == "__main__":
    main()
