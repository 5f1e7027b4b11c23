#!/usr/bin/env python3
"""heddle-mpi against one process: the same bytes, whatever becomes of ranks and workers.

  ranks.py HEDDLE HEDDLE_MPI MPIEXEC SOURCE FAKE_DRIVER [KILLS [SECONDS]]

SOURCE: heddle's source tree. FAKE_DRIVER: the folder of a driver that has GPUs, or "". KILLS: how often a rank is killed
at random (default: 2); SECONDS: how long one is stopped, while a longer sweep runs (default: to the run's end). Exit code
77: this MPI starts no ranks here.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HEDDLE, HEDDLE_MPI, MPIEXEC, SOURCE, FAKE_DRIVER = sys.argv[1:6]
KILLS = int(sys.argv[6]) if len(sys.argv) > 6 else 2
SECONDS = float(sys.argv[7]) if len(sys.argv) > 7 else 0
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl="self,vader",
                   OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
VERSION = subprocess.run([MPIEXEC, "--version"], capture_output=True).stdout
OPEN_MPI = any(word in VERSION for word in (b"Open MPI", b"OpenRTE"))
RECOVER = ["--enable-recovery"] if OPEN_MPI else ["-disable-auto-cleanup"]
PLANS = [f"order={o}{b}" for o in ["col", "hilbert", *(f"band:{n}" for n in range(1, 400 if SECONDS else 10))]
         for b in ("", ",bind=agents", ",bind=agents:2", ",bind=claim")]
SWEEP = ["sweep", "matmul-tiled", "--size", "paper" if SECONDS else "small", "--gpu", "gtx580"]
draw = random.Random(18)
failed = 0


def check(name, ok, more=""):
    global failed
    failed += not ok
    print(("ok      " if ok else "FAILED  ") + name + (f": {more}" if more and not ok else ""), flush=True)


def start(ranks, words, *options, **environment):
    """mpiexec in a session of its own, so that nothing of it is left behind."""
    return subprocess.Popen([MPIEXEC, *options, "-n", str(ranks), HEDDLE_MPI, *words],
                            env=dict(ENVIRONMENT, **environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def finish(process, seconds=240):
    try:
        text, _ = process.communicate(timeout=seconds)
        return process.returncode, text.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return -1, "timed out"


def children(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(p) for p in task.read_text().split()]
    return found


def ranks_of(process):
    """The ranks' processes, in their order, below mpiexec; each starts a keeper."""
    todo, found = [process.pid], []
    while todo:
        pid = todo.pop()
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[0].decode() == HEDDLE_MPI:
                found.append(pid)
            else:
                todo += children(pid)
        except OSError:
            pass
    return sorted(found)


def stock_of(ranks):
    """The process that the first rank's keeper started, whose copies are the workers of all ranks; 0: there is none."""
    return ([grandchild for child in children(ranks[0]) for grandchild in children(child)] + [0])[0]


def wait_for_ranks(process, n):
    for _ in range(2000):
        try:
            found = ranks_of(process)
            if len(found) == n and len(children(stock_of(found))) == n:
                return found
        except OSError:
            pass
        if process.poll() is not None:
            break
        time.sleep(0.005)
    return []


def sweep(out):
    return [*SWEEP, "--plans", "@plans", "-o", out]


def same(out):
    there = pathlib.Path(out)
    ok = there.exists() and there.read_bytes() == ONE
    there.unlink(missing_ok=True)
    return ok


def any_number_of_ranks_writes_the_bytes_of_one_process():
    for n in (1, 2, 3):
        rc, text = finish(start(n, sweep("out.csv")))
        check(f"{n} ranks write the bytes of one process", rc == 0 and same("out.csv"), text)
    words = ["levers", "copy-col", "matmul-tiled", "--plan", "order=col", "--plan", "bind=agents", "-o"]
    subprocess.run([HEDDLE, *words, "one.md"], check=True)
    rc, text = finish(start(2, [*words, "two.md"]))
    words = ["check", "layernorm", "--size", "tiny", "--plan", "order=reverse,bind=agents"]
    proof = subprocess.run([HEDDLE, *words], check=True, capture_output=True).stdout.decode()
    rc_proof, text_proof = finish(start(2, words))
    words = ["difftest", "--device", "emu:portable", "--programs", "200", "--op", "tanh*"]
    one = subprocess.run([HEDDLE, *words], check=True, capture_output=True).stdout.decode()
    rc_random, random_text = finish(start(2, words))
    check("so do random programs", rc_random == 0 and random_text == one and "200 programs" in one, random_text)
    check("so does a proof", rc_proof == 0 and text_proof == proof, text_proof)
    check("so does a table", rc == 0 and pathlib.Path("one.md").read_bytes() == pathlib.Path("two.md").read_bytes(), text)


def other_commands_and_errors_end_as_they_do_in_one_process():
    rc, text = finish(start(2, ["--version"]))
    check("a command without items runs on rank 0 alone", rc == 0 and text.count("heddle 0") == 1, text)
    check("and says so", "no items to share" in text, text)
    rc, text = finish(start(2, ["sweep", "nosuch"]))
    check("an error ends all ranks", rc == 2 and text.count("no workload 'nosuch'") == 1, text)


def start_and_catch(n):
    """A sweep whose ranks have their workers. On a busy machine it may be over before they are seen: then once more."""
    for _ in range(5):
        process = start(n, sweep("out.csv"))
        ranks = wait_for_ranks(process, n)
        if ranks or process.poll() != 0:
            break
    return process, ranks


def a_worker_that_is_killed_is_replaced():
    process, ranks = start_and_catch(2)
    for worker in children(stock_of(ranks)) if ranks else []:
        time.sleep(0.2)
        end([worker])
    rc, text = finish(process)
    check("a worker that is killed is replaced", len(ranks) == 2 and rc == 0 and same("out.csv"), text)
    process, ranks = start_and_catch(2)
    stock = stock_of(ranks) if ranks else 0
    end([stock, *children(stock)] if stock else [])
    rc, text = finish(process)
    check("so are all of them with the process that they are copies of", stock and rc == 0 and same("out.csv"), text)


def end(ranks):
    for pid in ranks:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def a_rank_that_is_killed_loses_only_its_time():
    """Any rank. Where it is the one that writes, the run goes on from its journal."""
    k = tries = 0
    while k < KILLS and tries < 3 * KILLS:
        tries += 1
        words = [*sweep("out.csv"), "--journal", "killed"]
        process = start(3, words, *RECOVER)
        ranks = wait_for_ranks(process, 3)
        time.sleep(draw.random() * FULL / 2)
        victim = draw.choice((0, 1, 2))
        hit = bool(ranks) and process.poll() is None
        try:
            if hit:
                os.kill(ranks[victim], signal.SIGKILL)
        except ProcessLookupError:
            hit = False
        rc, text = finish(process)
        end(ranks)
        resumed = hit and victim == 0 and not pathlib.Path("out.csv").exists()
        if resumed:
            rc, text = finish(start(3, [*words, "--resume"]))
        pathlib.Path("killed").unlink()
        k += hit
        check(f"kill {k} of {KILLS}: rank {victim} gets SIGKILL{', the run is resumed' if resumed else ''}"
              f"{'' if hit else ', too late'}", bool(ranks) and rc == 0 and same("out.csv"), text)
    check("all kills hit a rank at work", k == KILLS)


def a_rank_that_is_stopped_loses_only_its_time():
    process = start(3, sweep("out.csv"), *RECOVER)
    ranks = wait_for_ranks(process, 3)
    time.sleep(draw.random() * FULL / 2)
    begin = time.monotonic()
    if ranks and process.poll() is None:
        os.kill(ranks[1], signal.SIGSTOP)
    while SECONDS and process.poll() is None and time.monotonic() - begin < SECONDS:
        time.sleep(0.1)
    stopped = time.monotonic() - begin
    if SECONDS and process.poll() is None:
        os.kill(ranks[1], signal.SIGCONT)
    rc, text = finish(process, 900)
    end(ranks)
    more = f" for {stopped:.0f} s of {time.monotonic() - begin:.0f}" if SECONDS else ""
    check(f"a rank is stopped{more}", bool(ranks) and rc == 0 and same("out.csv"), text)


def a_run_that_is_killed_goes_on_from_its_journal():
    process = start(2, [*sweep("out.csv"), "--journal", "journal"])
    wait_for_ranks(process, 2)
    journal = pathlib.Path("journal")
    for _ in range(4000):
        if process.poll() is not None or journal.exists() and journal.read_bytes().count(b"\na ") > 5:
            break
        time.sleep(0.005)
    for rank in ranks_of(process):
        os.kill(rank, signal.SIGKILL)
    finish(process)
    pathlib.Path("out.csv").unlink(missing_ok=True)
    before = journal.read_bytes().count(b"\na ")
    rc, text = finish(start(2, [*sweep("out.csv"), "--journal", "journal", "--resume"]))
    check("a run that is killed goes on from its journal", rc == 0 and before > 5 and same("out.csv"), text)


def bench(folder, *more):
    return ["bench", *(f"{SOURCE}/corpus/triton/{w}-sm80" for w in ("row-sum", "column-sum", "softmax")), "--size",
            "tiny", "--budget", "1", "--no-counters", "--no-advice", "--store", "none", "-o", folder, *more]


def rows(folder):
    return [json.loads(line) for line in pathlib.Path(folder, "results.jsonl").read_text().splitlines()]


def every_rank_tunes_on_a_gpu_of_its_own():
    two = dict(LD_LIBRARY_PATH=FAKE_DRIVER, FAKE_CUDA_DEVICES="2")
    rc, text = finish(start(2, bench("two"), **two))
    got = rows("two") if rc == 0 else []
    check("ranks tune on a GPU each, and rows are in the names' order, with GPU, clocks and driver",
          [pathlib.Path(r["workload"]).name for r in got] == ["row-sum-sm80", "column-sum-sm80", "softmax-sm80"]
          and len({r["gpu"] for r in got}) == 2
          and all(r["clock_mhz"] == 1500 and r["driver"] == "13.0" and not r["failed"] for r in got), text)
    rc, text = finish(start(2, bench("other"), FAKE_CUDA_MIXED="1", **two))
    check("kinds of GPU do not mix", rc == 2 and "rank 1 has Other fake GPU, driver 13.0, rank 0 has Fake GPU" in text, text)
    rc, text = finish(start(2, bench("mixed", "--mixed"), FAKE_CUDA_MIXED="1", **two))
    got = rows("mixed") if rc == 0 else []
    check("unless told", {r["device"] for r in got} == {"Fake GPU", "Other fake GPU"}, text)
    rc, text = finish(start(2, bench("shared", "--device", "cuda:1"), **two))
    check("two ranks do not share a GPU", rc == 2 and "ranks 0 and 1 have the same device, GPU-" in text, text)
    rc, text = finish(start(2, bench("none", "--device", "cuda:7"), **two))
    check("a rank without its GPU says why", rc == 2 and "no device cuda:7: the driver shows 2 GPUs" in text, text)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("plans").write_text("\n".join(PLANS))
    FULL = time.monotonic()
    subprocess.run([HEDDLE, *sweep("one.csv")], check=True)
    FULL = time.monotonic() - FULL
    ONE = pathlib.Path("one.csv").read_bytes()
    first = subprocess.run([MPIEXEC, "-n", "2", "true"], env=ENVIRONMENT, capture_output=True)
    if first.returncode != 0:
        print("skipped: this MPI starts no ranks here:", first.stderr.decode(errors="replace")[:300])
        sys.exit(77)
    any_number_of_ranks_writes_the_bytes_of_one_process()
    other_commands_and_errors_end_as_they_do_in_one_process()
    a_worker_that_is_killed_is_replaced()
    a_rank_that_is_killed_loses_only_its_time()
    a_rank_that_is_stopped_loses_only_its_time()
    a_run_that_is_killed_goes_on_from_its_journal()
    if FAKE_DRIVER:
        every_rank_tunes_on_a_gpu_of_its_own()
sys.exit(failed != 0)
