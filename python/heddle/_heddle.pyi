from typing import Any, Callable, Mapping, NoReturn, Sequence, Union

Dims = Union[int, Sequence[int], None]
Progress = Union[Callable[[str, int, int], object], None]

class Error(Exception):
    file: str
    line: int
    column: int
    message: str
    reason: str
    result: Any
    tried: Sequence[str]

class InputError(Error): ...
class SystemError(Error): ...
class BudgetError(Error): ...
class NoAnswerError(BudgetError): ...
class RefusedError(Error): ...
class UnsupportedError(Error): ...
class MissingError(UnsupportedError): ...
class FaultError(Error): ...
class UsageError(Error): ...
class NotFoundError(UsageError, LookupError): ...

def canonical(plan: str, /) -> str: ...
def rewrite(
    ptx: str, plan: str, kernel: str | None, grid: Dims, block: Dims, sms: int, assume: str, /
) -> tuple[str, str]: ...
def rewrite_launch(
    ptx: str, plan: str, kernel: str, grid: Dims, block: Dims, sms: int, shared: int, /
) -> tuple[str, bool, bool, bool]: ...
def worker_grid(grid: Dims, some: bool, sms: int, resident: int, /) -> tuple[int, int, int]: ...
def analyze(ptx: str, kernel: str | None, grid: Dims, block: Dims, /) -> str: ...
def kernels(file: str, /) -> str: ...
def find_kernel(file: str, name: str | None, module: int, /) -> tuple[str, str]: ...
def matches(symbol: str, word: str, /) -> bool: ...
def module_text(file: str, module: int, /) -> str: ...
def page(title: str, line: str, json: str, /) -> str: ...
def dlpack(capsule: Any, /) -> tuple[bytes, int, int, int, int]: ...
def open_workload(
    name: str,
    folder: str | None,
    size: str | None,
    preferred: str | None,
    values: Sequence[str],
    words: Sequence[str],
    save: str | None,
    /,
) -> Any: ...
def describe_workload(
    workload: Any, /
) -> tuple[str, str, str, list[str], dict[str, int], list[tuple[str, tuple[int, int, int], tuple[int, int, int]]]]: ...
def list_workloads(folder: str, /) -> list[str]: ...
def workload_ptx(workload: Any, arch: int, /) -> str: ...
def keep_ptx(workload: Any, arch: int, /) -> None: ...
def check(
    workload: Any,
    plan: str,
    no_reference: bool,
    assume: str,
    sms: int,
    seed: int,
    threads: int,
    progress: Progress,
    /,
) -> tuple[str, str]: ...
def analyze_workload(
    workload: Any,
    kernel: str | None,
    gpu: str,
    folder: str,
    seconds: float,
    static: bool,
    verbose: bool,
    threads: int,
    progress: Progress,
    /,
) -> str: ...
def open_study(workload: Any, gpu: str, folder: str, depth: str, threads: int, /) -> Any: ...
def simulate(study: Any, plan: str, seed: int, /) -> str: ...
def sweep(
    workload: Any,
    study: Any,
    gpu: str,
    folder: str,
    plans: Sequence[str],
    budget: float,
    exact: bool,
    seed: int,
    threads: int,
    progress: Progress,
    /,
) -> tuple[str, str]: ...
def optimize(
    workload: Any,
    gpu: str,
    folder: str,
    plans: Sequence[str],
    keep_launch: bool,
    seconds: float,
    wall: float,
    exact: bool,
    assume: str,
    seed: int,
    threads: int,
    progress: Progress,
    /,
) -> tuple[str, str | None, str, str, bool]: ...
def tune(
    name: str,
    folder: str | None,
    size: str | None,
    values: Sequence[str],
    words: Sequence[str],
    gpus: str,
    device: str,
    store: str | None,
    plans: Sequence[str],
    budget: float,
    wall: float,
    again: bool,
    no_proof: bool,
    any_grid: bool,
    advice: bool,
    assume: str,
    threads: int,
    progress: Progress,
    /,
) -> tuple[str, bool]: ...
def end_with(parent: int, /) -> None: ...
def become(options: Mapping[str, Any], argv: Sequence[str], gpus: str, /) -> NoReturn: ...
def profile(
    options: Mapping[str, Any],
    argv: Sequence[str],
    gpu: str,
    gpus: str,
    most: int,
    threads: int,
    progress: Progress,
    /,
) -> tuple[str, str, int]: ...
def optimize_program(
    options: Mapping[str, Any],
    argv: Sequence[str],
    folder: str,
    gpu: str,
    gpus: str,
    most: int,
    seconds: float,
    wall: float,
    exact: bool,
    keep_launch: bool,
    threads: int,
    progress: Progress,
    /,
) -> tuple[str, str, int]: ...
def list_verdicts(
    store: str | None, gpu: str, driver: str, /
) -> list[tuple[str, str, str, float, float, float, int]]: ...
def put_verdict(
    store: str | None,
    kernel: str,
    launch: str,
    gpu: str,
    driver: str,
    name: str,
    plan: str,
    speedup: float,
    low: float,
    high: float,
    before_us: float,
    after_us: float,
    tried: int,
    rounds: int,
    /,
) -> None: ...
def verdict_place(gpu: str, driver_version: int, /) -> tuple[str, str]: ...
def verdict_grid(x: int, y: int, z: int, /) -> str: ...
def candidates(
    ptx: str, kernel: str, grid: Dims, block: Dims, widths: Sequence[int], sms: int = 0, resident: int = 0, /
) -> list[str]: ...
def contest(
    bench: Any,
    ptx: str,
    kernel: str,
    grid: Dims,
    block: Dims,
    widths: Sequence[int],
    seconds: float,
    gain: float,
    seed: int,
    sms: int = 0,
    resident: int = 0,
    /,
) -> tuple[bool | None, str, Any, float, float, float, float, float, int, int]: ...

class Launches:
    def __init__(self, original: Callable[..., Any], /) -> None: ...
    def __call__(self, *args: Any, **named: Any) -> Any: ...
    def set(
        self,
        grid: Dims,
        call: Callable[..., Any] | None,
        function: Any,
        dims: tuple[int | None, int | None, int | None],
        launches: int,
        stream: int | None = None,
        /,
    ) -> None: ...
    def watch(self, address: int, /) -> None: ...
    def counts(self) -> dict[tuple[int, int, int], int]: ...

Measured = tuple[int, float, float, float, float, float, float, float]

class Probation:
    def __init__(
        self,
        original: Callable[..., Any],
        plan: Callable[..., Any],
        function: Any,
        dims: tuple[int | None, int | None, int | None],
        trust: int,
        seed: int,
        addresses: Sequence[int],
        stream: int | None = None,
        /,
    ) -> None: ...
    def __call__(self, *args: Any) -> Any: ...
    def measured(self) -> Measured: ...
    def plain(self) -> int: ...

class Note:
    def __init__(
        self,
        program: str,
        kernel: str,
        launch: str,
        gpu: str,
        driver: str,
        plan: str,
        name: str,
        speedup: float,
        before_us: float,
        after_us: float,
        when: int,
        /,
    ) -> None: ...
    def state(self) -> tuple[bool, str, int, bool, bool, float, float, float, float, float]: ...
    def learn(self, end: int, measured: Measured, /) -> None: ...
    def count(self, launches: float, ready: float, /) -> None: ...
    def put(self, program: str, others: Sequence[Note], /) -> None: ...

def probation_again(launches: int, /) -> int: ...
