"""python -m heddle: the command line."""

import os
import signal
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).parent / "bin" / "heddle"
    # Python ignores them, and the program would go on ignoring them.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execv(program, ["heddle", *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"heddle: cannot run {program}: {e.strerror}")


if __name__ == "__main__":
    main()
