"""The process in which a program of heddle._programs runs: _child.py JOB.json PIPE.

It has one thread, so that it may become the program, or be copied. An exception goes into a file beside the job's.
"""

import json
import os
import signal
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import _heddle  # type: ignore # noqa: E402

sys.path.pop(0)


def _leave(path: str, e: BaseException) -> None:
    found = {k: getattr(e, k, "") for k in ("file", "message", "reason")}
    places = {k: getattr(e, k, 0) for k in ("line", "column")}
    found.update(places, kind=type(e).__name__, text=str(e))
    with open(os.path.join(os.path.dirname(path), "error.json"), "w", encoding="utf-8") as f:
        json.dump(found, f)


def _do(job: Any, pipe: int) -> Any:
    def tell(stage: str, done: int, n: int) -> None:
        os.write(pipe, (json.dumps([stage, done, n]) + "\n").encode())

    options, argv, gpus = job["options"], job["argv"], job["gpus"]
    progress = tell if job["progress"] else None
    if job["do"] == "become":
        os.close(pipe)
        _heddle.become(options, argv, gpus)
    if job["do"] == "profile":
        return _heddle.profile(options, argv, job["gpu"], gpus, job["most"], job["threads"], progress)
    return _heddle.optimize_program(
        options, argv, job["folder"], job["gpu"], gpus, job["most"], job["seconds"], job["wall"], job["exact"],
        job["keep_launch"], job["threads"], progress,
    )  # fmt: skip


def main(path: str, pipe: int) -> int:
    # Python ignores them, and a program would go on ignoring them.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    with open(path, encoding="utf-8") as f:
        job = json.load(f)
    _heddle.end_with(job["parent"])
    os.set_inheritable(pipe, False)
    try:
        result = _do(job, pipe)
    except KeyboardInterrupt:
        return 130
    except Exception as e:
        _leave(path, e)
        return 2
    with open(job["result"], "w", encoding="utf-8") as f:
        json.dump(result, f)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
