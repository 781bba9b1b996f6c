"""`load_program`: a program that `Program.save` has written."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from xpgrad.backend.checks import same_place
from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import send
from xpgrad.errors import SerializationError, ShapeError
from xpgrad.graph.variable import Variable
from xpgrad.programs.encoding import Decoder, damaged
from xpgrad.programs.names import resolved
from xpgrad.programs.saving import FORMAT, VERSION
from xpgrad.serializers.files import File, read
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.trace.executors import Options, chosen
from xpgrad.transforms.trace.passes import apply_passes
from xpgrad.transforms.trace.program import Call, Program, Value, substituted
from xpgrad.types import Array


class SavedProgram:
    """A program that was loaded from a file. Call it with arrays as the compiled function; it gives no gradients.

    Attributes
    ----------
    program : Program
    weights : dict from str to array or None
        The arrays that the function captured, with the names of their Parameters as keys; None for arrays that are
        not in the file.
    """

    def __init__(self, program: Program, device: Device, inputs: list[Any], weights: dict[str, Array | None]) -> None:
        self.program, self.device, self.weights = program, device, weights
        self._inputs = inputs
        self._arguments: Any = None
        self._results: Any = None
        self._run: Any = None

    def __repr__(self) -> str:
        return f"<saved program {self.program.name}: {len(self.program.calls)} calls>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the compiled function for arrays of the saved shapes and dtypes."""
        found: dict[int, Array] = {}
        _match(self._arguments, (args, kwargs), found, "the arguments")
        arrays = []
        for value, entry in zip(self.program.inputs, self._inputs, strict=True):
            array = self.weights[entry["weight"]] if entry["leaf"] is None else found[entry["leaf"]]
            if array is None:
                raise ValueError(
                    f"{self.program.name}: the file has no weights; give weights['{entry['weight']}'] an array of "
                    f"{value.spec!r}, or save it with weights=True"
                )
            spec = plugins.backend_of(array).spec(array)
            if not same_place(spec, value.spec):
                raise ShapeError(f"{self.program.name}: expected an array of {value.spec!r}, got {spec!r}")
            arrays.append(array)
        if self._run is None:
            outputs = self._first(arrays)
            made = apply_passes(self.program, frozenset(), exact=False)
            self._run = chosen(made, made.backend, Options(frozenset(), False, None, False)).run
        else:
            outputs = list(self._run(*arrays))
        return _built(self._results, outputs, found)

    def _first(self, arrays: list[Array]) -> list[Array]:
        """Return the outputs of a run call by call, in which the specs that the file gives are checked."""
        held: dict[Value, Any] = dict(zip(self.program.inputs, arrays, strict=True))
        for call in self.program.calls:
            got = call.function(*substituted(call.args, held), **substituted(call.kwargs, held))
            for value, x in zip(call.results, [got] if call.single else list(got), strict=True):
                held[value] = value.spec.backend.restore(x)
                if not same_place(plugins.backend_of(held[value]).spec(held[value]), value.spec):
                    raise damaged(f"{call.name} to return {value.spec!r}")
        return [plugins.backend_of(x).copy(x) for x in substituted(self.program.outputs, held)]


def load_program(file: File, device: Any = None) -> SavedProgram:
    """Return a program that `program.save` has written.

    Parameters
    ----------
    file : str, path or binary file
    device : device specifier, optional
        Device of its arrays: the first device of its library, the default and only supported value.

    Returns
    -------
    SavedProgram
        A callable. It requires the library of the arrays, but not the code of the function.

    Raises
    ------
    SerializationError
        The file is damaged, of a later version, or calls a function that is neither in the standard nor a kernel of
        xpgrad. No code in a file is run: a file contains JSON, arrays, and names of such functions.
    """
    host: Any = plugins.host
    with read(file) as opened:
        archive = host.archives().Archive(opened)
        if "program" not in archive:
            raise damaged("an entry named 'program'")
        try:
            described = json.loads(bytes(archive["program"]))
        except (ValueError, TypeError, RecursionError) as error:
            raise damaged(f"JSON: {error}") from error
        if type(described) is not dict or described.get("format") != FORMAT:
            raise damaged(f"the format {FORMAT!r}")
        if described.get("version") != VERSION:
            raise SerializationError(
                f"load_program: expected version {VERSION} of the format, got {described.get('version')!r:.20}; save "
                "the program again, or use the xpgrad that wrote it"
            )
        target = get_device(f"@{described.get('library')}" if device is None else device)
        names = [name for name in archive if name.startswith(("array_", "weight_"))]
        arrays = {name: send(archive[name], target) for name in names}
        try:
            return _made(described, target, arrays)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged(f"other contents: {type(error).__name__}: {error}") from error


def _made(described: dict[str, Any], device: Device, arrays: Mapping[str, Array]) -> SavedProgram:
    backend = device.backend
    values: list[Value | None] = []
    constants = {int(name[6:]): x for name, x in arrays.items() if name.startswith("array_") and name[6:].isdigit()}
    decoder = Decoder(backend, values, constants)
    weights: dict[str, Array | None] = {}
    for i, entry in enumerate(described["inputs"]):
        values.append(Value(decoder.spec(entry["spec"])))
        if entry["leaf"] is None:
            weights[str(entry["weight"])] = arrays.get(f"weight_{i}")
    inputs = tuple(value for value in values if value is not None)
    calls = []
    for each in described["calls"]:
        kind, name = each["function"]
        function = resolved(kind, name, backend)
        if function is None:
            raise SerializationError(f"load_program: {name!r:.60} is no function that a saved program may call")
        args, kwargs = tuple(decoder.decode(each["args"])), decoder.decode(each["kwargs"])
        results = tuple(Value(decoder.spec(spec)) for spec in each["results"])
        calls.append(Call(str(each["name"]), function, args, kwargs, results, single=each["single"] is True))
        values.extend(results)
    outputs = tuple(decoder.decode(item) for item in described["outputs"])
    if not all(isinstance(x, Value) or type(x) in plugins.by_type for x in outputs):
        raise damaged("arrays as outputs")
    program = Program(str(described["name"]), inputs, outputs, tuple(calls))
    made = SavedProgram(program, device, described["inputs"], weights)
    made._arguments, made._results = decoder.decode(described["arguments"]), decoder.decode(described["results"])
    known = {"output": range(len(outputs)), "argument": [n for kind, n in _leaves(made._arguments) if kind == "array"]}
    if not all(kind == "is" or number in known.get(kind, ()) for kind, number in _leaves(made._results)):
        raise damaged("numbers of arrays as results")
    return made


def _leaves(tree: Any) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of the arguments or results in a file, and their kinds."""
    if not isinstance(tree, (dict, list, tuple, type(None))):
        raise damaged("containers of arrays as arguments and results")
    if type(tree) is list and len(tree) == 2 and type(tree[0]) is str:
        yield tree[0], tree[1]
    else:
        for item in tree.values() if isinstance(tree, dict) else tree or ():
            yield from _leaves(item)


def _match(known: Any, given: Any, found: dict[int, Array], where: str) -> None:
    """Collect the arrays in arguments; all other values must be the same as in the saved call."""
    if type(known) is list and len(known) == 2 and known[0] == "array":
        array = given._array if isinstance(given, Variable) else given
        if not is_array(array):
            raise TypeError(f"a saved program expected an array in {where}, got {type(given).__name__}")
        found[known[1]] = array
        return
    if type(known) is list and len(known) == 2 and known[0] == "is":
        if type(given) is not type(known[1]) or given != known[1]:
            raise ValueError(f"a saved program expected {known[1]!r} in {where}, as it was recorded, got {given!r:.60}")
        return
    if type(known) is not type(given) or len(known or ()) != len(given or ()):
        raise TypeError(f"a saved program expected {_shown(known)} in {where}, got {_shown(given)}")
    for key in known if isinstance(known, dict) else range(len(known or ())):
        if isinstance(given, dict) and key not in given:
            raise TypeError(f"a saved program expected an argument {key!r} in {where}")
        _match(known[key], given[key], found, f"{where} at [{key!r}]")


def _shown(x: Any) -> str:
    return f"{type(x).__name__} of {len(x)}" if isinstance(x, (list, tuple, dict)) else type(x).__name__


def _built(tree: Any, outputs: list[Array], found: dict[int, Array]) -> Any:
    """Return the results of a run in the containers of the function's results."""
    if type(tree) is list and len(tree) == 2 and tree[0] in ("output", "argument", "is"):
        kind, content = tree
        return outputs[content] if kind == "output" else found[content] if kind == "argument" else content
    if isinstance(tree, dict):
        return {key: _built(item, outputs, found) for key, item in tree.items()}
    return None if tree is None else type(tree)(_built(item, outputs, found) for item in tree)
