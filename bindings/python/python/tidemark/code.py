"""The user's algorithms in a study: the hash in the keys of their runs, and their transfer to other processes.

The hash covers the code that Python runs, not its source text. So a comment changes nothing, a file that was edited but
not loaded again keeps its hash, and a class of a REPL, which has no file, has a hash like any other.
"""

import builtins
import contextlib
import copyreg
import dis
import hashlib
import importlib
import importlib.util
import pickle
import site
import sys
import sysconfig
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle

from tidemark.errors import StudyError
from tidemark.marker import AnyLaw, Controller

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
"""Types whose `repr` is the complete value."""
PROTOCOL = 4
"""Protocol of pickles: the last one that writes large arrays as bytes."""
OF_A_CLASS = ("__name__", "__qualname__", "__module__", "__doc__", "__dict__", "__weakref__", "_abc_impl")
"""Attributes of a class that have no effect, or that follow from its bases and name."""


class Code(NamedTuple):
    """Law and controllers of a study: their hash, and a pickle that any process can load."""

    hash: str
    pickled: bytes

    @classmethod
    def of(cls, law: AnyLaw | None, controllers: Mapping[str, type[Controller]]) -> "Code":
        """Reads algorithms.

        Raises `StudyError` for code or a value that can't be hashed, because a change would go unnoticed, or that can't
        be sent to another process.
        """
        reader = _Reader()
        reader.add(importlib.util.MAGIC_NUMBER)
        reader.add(law, getattr(law, "__name__", "law"))
        for flow, controller in controllers.items():
            reader.add(flow)
            reader.add(controller, getattr(controller, "__name__", flow))
        with contextlib.ExitStack() as stack:
            # By value: otherwise another process would read the file, which may have been edited meanwhile.
            for name in reader.own_modules & set(sys.modules) - cloudpickle.list_registry_pickle_by_value():
                module = sys.modules[name]
                cloudpickle.register_pickle_by_value(module)
                stack.callback(cloudpickle.unregister_pickle_by_value, module)
            try:
                return cls(reader.hash.hexdigest()[:32], cloudpickle.dumps((law, list(controllers.items()))))
            except (TypeError, pickle.PicklingError) as error:
                raise StudyError(
                    f"law or controllers can't be sent to another process: {error}; use tidemark.run"
                ) from error

    def load(self) -> tuple[AnyLaw | None, list[tuple[str, type[Controller]]]]:
        """Loads the algorithms, in any process."""
        algorithms: tuple[AnyLaw | None, list[tuple[str, type[Controller]]]] = pickle.loads(self.pickled)
        return algorithms


class _Reader:
    """Hashes values, their code, and everything that the code refers to. Installed packages count by their version."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.own_modules: set[str] = set()
        self._path: list[str] = []
        # Values by their identity, which is unique while they are referenced.
        self._seen: dict[int, tuple[int, object]] = {}

    def add(self, value: Any, name: str = "", names: Iterable[str] = ()) -> None:
        """Adds a value that the code around it calls `name`. For a module, only `names` are read."""
        if isinstance(value, PLAIN):
            self._say(type(value).__name__, repr(value))
            return
        if id(value) in self._seen:
            self._say("again", self._seen[id(value)][0])
            return
        self._seen[id(value)] = (len(self._seen), value)
        self._path.append(name)
        self._say(type(value).__name__)
        match value:
            case types.CodeType():
                self._add_code(value)
            case types.FunctionType():
                self._add_function(value)
            case types.ModuleType():
                if self._is_own(value.__name__):
                    self._add_named(vars(value), names)
            case type():
                self._add_class(value)
            case staticmethod() | classmethod():
                self.add(value.__func__)
            case property():
                self._add_all([value.fget, value.fset, value.fdel])
            case list() | tuple() if type(value) in (list, tuple):
                self._add_all(value)
            case dict() if type(value) is dict:
                self._add_all([*value.keys(), *value.values()])
            case set() | frozenset():
                # Sets have no order.
                self._add_all(sorted(value, key=repr))
            case types.CellType():
                self._add_all(_contents(value))
            case types.MemberDescriptorType() | types.GetSetDescriptorType():
                self._say(value.__name__)
            case _:
                self._add_object(value)
        self._path.pop()

    def _say(self, *parts: object) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            # Lengths keep parts apart.
            self.hash.update(len(data).to_bytes(8, "little"))
            self.hash.update(data)

    def _add_all(self, values: Iterable[object]) -> None:
        values = list(values)
        self._say(len(values))
        for value in values:
            self.add(value)

    def _add_named(self, values: Mapping[str, object], names: Iterable[str]) -> None:
        for name in sorted(names):
            if name in values:
                self._say(name)
                self.add(values[name], name, names)

    def _add_code(self, code: types.CodeType) -> None:
        self._say(code.co_code, code.co_exceptiontable, code.co_flags)
        self._say(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self._say(*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
        self._add_all(code.co_consts)

    def _add_function(self, function: types.FunctionType) -> None:
        if not self._is_own(_module(function)):
            self._say(function.__qualname__)
            return
        self.add(function.__code__)
        self._add_all([function.__defaults__, function.__kwdefaults__, *(function.__closure__ or ())])
        names = _names(function.__code__)
        self._add_named(function.__globals__, names)
        # An import inside a function is not a global name.
        for module in _imports(function.__code__):
            self.add(module, module.__name__, names)

    def _add_class(self, of: type) -> None:
        self._say(of.__qualname__)
        if not self._is_own(_module(of)):
            return
        self._add_all(of.__bases__)
        # Dataclasses and the like keep metadata from which they have made methods.
        notes = (name for name in vars(of) if name.startswith("__") and not callable(getattr(of, name)))
        self._add_named(vars(of), set(vars(of)) - set(OF_A_CLASS) - set(notes))

    def _add_object(self, value: object) -> None:
        if hasattr(value, "__wrapped__"):
            self.add(value.__wrapped__)
            return
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            parts: Any = reduce(value) if reduce else value.__reduce_ex__(PROTOCOL)
        except Exception as error:
            raise self._unreadable(value) from error
        if not isinstance(parts, str):
            self._add_all([list(part) if hasattr(part, "__next__") else part for part in parts])
        elif self._is_own(getattr(value, "__module__", None) or "builtins"):
            raise self._unreadable(value)
        else:
            self._say(parts)

    def _is_own(self, module: str | None) -> bool:
        """True for a module that is not from an installed package. For others, adds the package's version."""
        if module is None or not _is_installed(module):
            self.own_modules.add(module or "")
            return True
        package = module.partition(".")[0]
        self._say(module, getattr(sys.modules.get(package), "__version__", ""))
        return False

    def _unreadable(self, value: object) -> StudyError:
        path = ".".join(name for name in self._path if name)
        return StudyError(
            f"{path}: a change of this {type(value).__qualname__} could not be noticed, so its runs "
            f"can't be stored: write it in Python, or use tidemark.run, which stores nothing"
        )


def _module(of: types.FunctionType | type) -> str | None:
    """Module of code; None for code that runs outside a module, to which Python gives the name of its own module."""
    is_named = of.__module__ != "builtins" or hasattr(builtins, of.__qualname__)
    return of.__module__ if is_named else None


def _contents(cell: types.CellType) -> list[object]:
    """Value of a closure's variable, if it is set already."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _names(code: types.CodeType) -> set[str]:
    """Names of globals and attributes that code and its nested code use."""
    return set(code.co_names).union(*map(_names, _inner(code)))


def _imports(code: types.CodeType) -> list[types.ModuleType]:
    """Modules that code and its nested code import."""
    named = {of.argval for of in dis.get_instructions(code) if of.opname == "IMPORT_NAME" and of.argval}
    modules = []
    for name in sorted(named):
        with contextlib.suppress(ImportError):
            modules.append(importlib.import_module(name))
    return [*modules, *(module for inner in _inner(code) for module in _imports(inner))]


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def _is_installed(module: str) -> bool:
    """True for a module of Python itself, of this package, or of an installed package."""
    package = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or package == "tidemark":
        # Built in, or else what runs, or a folder.
        return package in (*sys.stdlib_module_names, "tidemark")
    paths = sysconfig.get_paths()
    of_python = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders = [*of_python, *site.getsitepackages(), site.getusersitepackages()]
    return any(Path(file).is_relative_to(folder) for folder in folders)
