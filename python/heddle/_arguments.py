"""Arguments of launches: Python's numbers and arrays as the words of heddle's command line, checked against the
kernel's parameters."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Sequence, Union, runtime_checkable

from . import _heddle


class ArgumentError(_heddle.UsageError, TypeError):
    """An argument does not fit its parameter, whose number `parameter` is, from 1; 0: their number is wrong."""

    parameter = 0
    __module__ = "heddle"


@runtime_checkable
class SupportsDLPack(Protocol):
    """An array of any library that speaks DLPack: PyTorch, JAX, CuPy, NumPy, ..."""

    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


Argument = Union[int, float, str, bytes, bytearray, memoryview, SupportsDLPack, Any]
"""A number; an array (NumPy's, anything with the buffer protocol or DLPack), whose contents are copied; or a word of
the command line: "f32[1024]=uniform(-1, 1)", "s32:5"."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel."""

    number: int
    """From 1."""
    type: str
    """As PTX has it: "u64", "f32"; "b8" of structs."""
    bytes: int
    c: str
    """As C++ writes it, "float const*", where the kernel's name says it; else ""."""
    is_pointer: bool
    """By its type in C++: where that is not known, a "u64" may be a pointer as well."""
    element: str
    """heddle's name of its type, or of the type that it points to: "f32"; "" where that is not known."""

    def __str__(self) -> str:
        return f"{self.number} ({self.c or '.' + self.type})"

    @property
    def is_float(self) -> bool:
        """A number with a point."""
        return not self.is_pointer and (self.element or self.type).startswith(("f", "bf")) and self.bytes in (2, 4, 8)

    @property
    def is_integer(self) -> bool:
        """A whole number, or an address."""
        return self.type[0] in "usb" and self.type != "b8" and self.bytes <= 8 and not self.is_float

    @property
    def may_point(self) -> bool:
        """A pointer, for all that is known."""
        return self.bytes == 8 and self.type[0] in "usb" and (self.is_pointer or not self.c)


def _fail(parameter: Parameter | None, kernel: str, what: str) -> ArgumentError:
    place = f"{kernel}: parameter {parameter}: " if parameter else f"{kernel}: " if kernel else ""
    e = ArgumentError(place + what)
    e.message = str(e)
    e.parameter = parameter.number if parameter else 0
    return e


# ---- Arrays -------------------------------------------------------------------------------------------------

_KINDS = {**dict.fromkeys("efd", "f"), **dict.fromkeys("bhilqn", "s"), **dict.fromkeys("BHILQN?c", "u")}
_DLPACK = {0: "s", 1: "u", 2: "f", 4: "bf", 5: "f", 6: "u"}
_ELEMENTS = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"}
_CPU = (1, 3)


@dataclass(frozen=True)
class Array:
    """Bytes of an array in C's order."""

    element: str
    data: bytes
    title: str

    @property
    def count(self) -> int:
        """Elements."""
        return len(self.data) // (int(self.element.lstrip("bfsu")) // 8)


def _title(value: Any) -> str:
    kind = getattr(value, "dtype", None)
    name = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return name if kind is None or name.endswith(str(kind)) else f"{name} of {kind}"


def _by_buffer(value: Any, title: str) -> Array | None:
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return None
    code = view.format.lstrip("@=<")
    kind, parts = _KINDS.get(code.removeprefix("Z")), 2 if code.startswith("Z") else 1
    element = f"{kind}{8 * view.itemsize // parts}"
    return Array(element, view.tobytes(), title) if element in _ELEMENTS else None


def _by_dlpack(value: Any, title: str) -> Array | None:
    if not isinstance(value, SupportsDLPack):
        return None
    device = value.__dlpack_device__()[0]
    if int(device) not in _CPU:
        raise BufferError("the array is on a GPU: pass a copy in the host's memory (.cpu(), .get(), numpy.asarray)")
    data, code, bits, lanes, _ = _heddle.dlpack(value.__dlpack__())
    complex_numbers = code == 5
    width = 8 if code == 6 else bits // 2 if complex_numbers else bits
    element = f"{_DLPACK.get(code, '?')}{width}"
    return Array(element, data, title) if lanes == 1 and element in _ELEMENTS else None


def as_array(value: Any) -> Array | None:
    """The contents of anything that is an array; None: it is none, or none that a kernel's buffer can hold."""
    if isinstance(value, (str, int, float)):
        return None
    title = _title(value)
    return _by_buffer(value, title) or _by_dlpack(value, title)


def _check_array(a: Array, p: Parameter, kernel: str) -> None:
    if not p.may_point:
        raise _fail(p, kernel, f"it has {p.bytes} bytes and is no pointer; {a.title} is an array")
    if not a.count:
        raise _fail(p, kernel, f"{a.title} is empty")
    want, have = p.element, a.element
    if p.is_pointer and want and (want[1:] != have[1:] or (want[0] in "bf") != (have[0] in "bf")):
        raise _fail(p, kernel, f"it points to {want}, and {a.title} holds {have}")


def _struct(data: bytes, p: Parameter, kernel: str) -> str:
    if len(data) != p.bytes:
        raise _fail(p, kernel, f"it is a struct of {p.bytes} bytes; {len(data)} are given")
    return "struct{" + ", ".join(f"u8:{b}" for b in data) + "}"


# ---- Numbers ------------------------------------------------------------------------------------------------

_PACKED = {2: ("<e", "<H"), 4: ("<f", "<I"), 8: ("<d", "<Q")}


def _is_brain(p: Parameter) -> bool:
    return p.bytes == 2 and p.element.startswith("b")


def _is_exact(value: int, p: Parameter) -> bool:
    floating = _PACKED[4 if _is_brain(p) else p.bytes][0]
    try:
        data = struct.pack(floating, float(value))
    except OverflowError:
        return False
    found: float = struct.unpack(floating, data)[0]
    return found == value and not (_is_brain(p) and any(data[:2]))


def _float(value: float, p: Parameter, kernel: str) -> str:
    if not p.is_float:
        raise _fail(p, kernel, f"it is no number with a point, as {value!r} is")
    floating, whole = _PACKED[4 if _is_brain(p) else p.bytes]
    try:
        bits: int = struct.unpack(whole, struct.pack(floating, value))[0]
    except OverflowError:
        raise _fail(p, kernel, f"{value!r} does not fit in {p.bytes} bytes") from None
    if _is_brain(p):
        return f"bf16:{value!r}"
    return f"u{8 * p.bytes}:{bits}"


def _int(value: int, p: Parameter, kernel: str) -> str:
    if p.is_float:
        if not _is_exact(value, p):
            raise _fail(p, kernel, f"{value} is not exact as a number with a point of {p.bytes} bytes")
        return _float(float(value), p, kernel)
    if not p.is_integer:
        raise _fail(p, kernel, f"it is a struct of {p.bytes} bytes, no number")
    if p.is_pointer and value:
        raise _fail(p, kernel, f"it is a pointer: pass an array, not {value}; 0 is the null pointer")
    bits = 8 * p.bytes
    least = 0 if p.element.startswith("u") else -(1 << (bits - 1))
    most = (1 << (bits - 1 if p.element.startswith("s") else bits)) - 1
    if not least <= value <= most:
        raise _fail(p, kernel, f"{value} does not fit in {p.element or f'{p.bytes} bytes'}")
    return f"{'s' if value < 0 else 'u'}{bits}:{value}"


def _typed(value: Any, p: Parameter, kernel: str) -> str:
    """A number that has a type of its own, as NumPy's have."""
    number, size, title = value.item(), int(value.dtype.itemsize), _title(value)
    if size != p.bytes or not (p.is_float or p.is_integer):
        raise _fail(p, kernel, f"it has {p.bytes} bytes, and {title} has {size}")
    if isinstance(number, float) != p.is_float:
        raise _fail(p, kernel, f"{title} is {'a' if isinstance(number, float) else 'no'} number with a point")
    return _float(number, p, kernel) if isinstance(number, float) else _int(int(number), p, kernel)


def _is_number_with_type(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "shape", None) == ()


# ---- Words --------------------------------------------------------------------------------------------------

_NAMED = {"set": "variable", "buffer": "buffer"}


class Words:
    """The arguments of launches as words; arrays become files of a folder."""

    def __init__(self, folder: Path):
        self.folder, self.n = folder, 0
        self.names: dict[int, str] = {}
        """By the array's identity: an array that is given twice is one buffer."""
        self.kept: list[Any] = []

    def add(self, value: Argument, p: Parameter, kernel: str) -> str:
        """The next argument."""
        self.n += 1
        if isinstance(value, str):
            return value
        if _is_number_with_type(value):
            return _typed(value, p, kernel)
        if isinstance(value, int):
            return _int(value, p, kernel)
        if isinstance(value, float):
            return _float(value, p, kernel)
        return self._array(value, p, kernel)

    def _array(self, value: Any, p: Parameter, kernel: str) -> str:
        known, title = self.names.get(id(value)), _title(value)
        try:
            if p.type == "b8" and not p.is_pointer:
                return _struct(memoryview(value).tobytes(), p, kernel)
            a = as_array(value)
        except (BufferError, TypeError) as e:
            raise _fail(p, kernel, f"{title} cannot be passed: {e}") from e
        if a is None:
            raise _fail(p, kernel, f"a number, an array or a word of the command line is wanted, not {title}")
        _check_array(a, p, kernel)
        if known:
            return known
        name = f"arg{self.n}"
        self._remember(value, name)
        return f"{name}={self._file(name, a)}"

    def name(self, option: str, name: str, value: Argument) -> str:
        """What has a name of its own: a variable ("set"), or a "buffer", whose array may be an argument as well."""
        if isinstance(value, str):
            return f"{name}={value}"
        if not re.fullmatch(r"[\w$%]+", name):
            raise _fail(None, "", f"{name!r} is no name of a {_NAMED[option]}")
        if isinstance(value, (int, float)) and option == "set":
            kind = "f64" if isinstance(value, float) else "s64" if value < 0 else "u64"
            return f"{name}={kind}:{float(value) if isinstance(value, float) else int(value)!r}"
        title = _title(value)
        try:
            a = as_array(value)
        except (BufferError, TypeError) as e:
            raise _fail(None, name, f"{title} cannot be passed: {e}") from e
        if a is None or not a.count:
            raise _fail(None, name, f"an array or TYPE[COUNT]=FILL is wanted, not {title if a is None else 'nothing'}")
        if option == "buffer":
            if id(value) in self.names:
                raise _fail(None, name, f"its array is the buffer {self.names[id(value)]} already")
            self._remember(value, name)
        return f"{name}={self._file(f'{_NAMED[option]}-{name}', a)}"

    def _remember(self, value: Any, name: str) -> None:
        self.names[id(value)] = name
        self.kept.append(value)

    def _file(self, name: str, a: Array) -> str:
        path = self.folder / f"{name}.bin"
        path.write_bytes(a.data)
        return f'{a.element}[{a.count}]=file("{path}")'


def check_count(given: Sequence[Any], parameters: Sequence[Parameter], kernel: str) -> None:
    """As many arguments as parameters."""
    if len(given) != len(parameters):
        names = ", ".join(p.c or "." + p.type for p in parameters)
        raise _fail(None, kernel, f"it takes {len(parameters)} arguments ({names}), not {len(given)}")


__all__ = ["Argument", "ArgumentError", "Array", "Parameter", "SupportsDLPack", "Words", "as_array", "check_count"]
