"""States that only a trainer's snapshot contains: observed values, random numbers, and states of links."""

import json
import random as python_random
from collections.abc import Mapping
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.links.state import Stateful
from xpgrad.reporter import dtype_name
from xpgrad.serializers.base import Deserializer
from xpgrad.serializers.dictionary import on_host


def observation_text(observation: Mapping[str, Any]) -> str:
    """Return the observed real numbers, 0-d arrays and Variables, and tuples of these, as JSON."""
    kept = {}
    for name, value in observation.items():
        parts = [_described(x) for x in (value if isinstance(value, tuple) else (value,))]
        if all(parts):
            kept[name] = {"tuple": isinstance(value, tuple), "parts": parts}
    return json.dumps(kept)


def observation_of(text: str) -> dict[str, Any]:
    """Return the values from the result of `observation_text`; arrays are on the host."""
    found = {}
    for name, value in json.loads(text).items():
        parts = tuple(_number(*part) for part in value["parts"])
        found[name] = parts if value["tuple"] else parts[0]
    return found


def _described(value: Any) -> tuple[str, Any, bool] | None:
    """Return dtype, value, and whether it is a Variable."""
    array = value.array if isinstance(value, Variable) else plugins.array_of(value)
    dtype = dtype_name(array)
    if dtype and array.ndim == 0:
        array = on_host(array).item()
    return (dtype, array, isinstance(value, Variable)) if isinstance(array, (bool, int, float)) else None


def _number(dtype: str, value: Any, is_variable: bool) -> Any:
    if dtype:
        host = plugins.host
        value = host.asarray(value, getattr(host.namespace, dtype, host.namespace.float32))  # bfloat16: exact, too
    return constant_variable(value) if is_variable else value


def random_text() -> str:
    """Return as JSON the states of this thread's streams and of the global generators of host library and Python."""
    host: Any = plugins.host
    return json.dumps([random.held_states(), host.random_state(), python_random.getstate()])


def restore_random(text: str) -> None:
    """Restore the states that `random_text` has described."""
    host: Any = plugins.host
    (initial, states), of_host, (version, numbers, gauss) = json.loads(text)
    random.restore(random.Snapshot(initial, states))
    host.set_random_state(None, of_host)
    python_random.setstate((version, tuple(numbers), gauss))


def serialize_state(link: Stateful, serializer: Any) -> None:
    """Save or load the state of a link without its graph; `Link.serialize` omits it, like Chainer."""
    loads, found = isinstance(serializer, Deserializer), {}
    for name in link.states:
        x = getattr(link, name)
        found[name] = serializer(name, None if x is None or loads else x.array)
    for name, array in found.items() if loads else ():
        setattr(link, name, None if array is None else Variable(link.device.send(array)))
