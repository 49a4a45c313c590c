"""Run the stub on its own and print its port: `python -m tests.stub --latency 0.2`."""

from __future__ import annotations

import argparse
import sys

from tests.stub.server import Stub


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    arguments = parser.parse_args()
    with Stub(arguments.latency, arguments.port) as stub:
        stub.keeps_requests = False
        sys.stdout.write(f"{stub.port}\n")
        sys.stdout.flush()
        sys.stdin.read()  # until whoever started it closes its end


if __name__ == "__main__":
    main()
