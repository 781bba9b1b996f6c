"""`Rule`: an optimizer as two functions of trees, `init` and `update`, without anything that changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import DtypeError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.optimizers.formula import OPTIONS, Formula, FormulaStep, real_spec, state_spec
from xpgrad.transforms.leaves import as_leaf, is_array
from xpgrad.transforms.trees import Structure, flatten, where
from xpgrad.types import Dtype

State = dict[str, Any]


class Rule:
    """An optimizer as functions of trees. The attribute `rule` of an optimizer is a Rule.

    ::

        rule = xpgrad.optimizers.Adam(alpha=0.01).rule
        state = rule.init(params)
        params, state = rule.update(params, grads, state)

    Both are functions of arrays only: they can be compiled, batched by `vmap`, and differentiated.

    Parameters
    ----------
    formula : type
        The optimizer's class.
    hyperparam : mapping
        Numbers and schedules by name.
    hooks : sequence
        Hooks with a method `gradients`, as in `xpgrad.optimizer_hooks`, called in this order.
    """

    def __init__(self, formula: type[Formula], hyperparam: Mapping[str, Any], hooks: Sequence[Any] = ()) -> None:
        self.formula, self.hyperparam, self.hooks = formula, dict(hyperparam), tuple(hooks)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={value!r}" for name, value in self.hyperparam.items())
        return f"{self.formula.__name__}({numbers}).rule"

    def init(self, params: Any) -> State:
        """Return the state before the first step: the number of steps "t", and trees like `params` by name.

        Parameters
        ----------
        params : tree of Variables or arrays, floating-point
        """
        leaves, structure = flatten(params)
        variables = _variables(leaves, structure, "init: params")
        found: State = {"t": _time(variables)}
        numbers = {name: value(0) if callable(value) else value for name, value in self.hyperparam.items()}
        for name, value in self.formula.states(numbers).items():
            dtypes = [state_spec(self.formula, name, x._node.spec).dtype for x in variables]
            found[name] = structure.build(
                [
                    array_api.full_like(constant_variable(x.array), value, dtype=dtype)
                    for x, dtype in zip(variables, dtypes, strict=True)
                ]
            )
        if any(isinstance(leaf, Variable) for leaf in leaves):
            return found
        made: State = _arrays(found)
        return made

    def update(self, params: Any, grads: Any, state: State, **hyperparam: Any) -> tuple[Any, State]:
        """Return parameters and state after a step.

        Parameters
        ----------
        params : tree of Variables or arrays, floating-point
        grads : tree like `params`
            Leaves with gradient None are unchanged.
        state : dict
            The result of `init` or of the last `update`.
        **hyperparam : number, Variable, array or schedule
            Override the hyperparameters of the rule in this step.

        Returns
        -------
        tree and dict
            Variables if any of the arguments has Variables, else arrays.
        """
        unknown = hyperparam.keys() - self.hyperparam.keys()
        if unknown:
            known = ", ".join(self.hyperparam)
            raise TypeError(f"{self!r}.update: expected hyperparameters among {known}; got {sorted(unknown)}")
        leaves = [leaf for tree in (params, grads, state, hyperparam) for leaf in flatten(tree)[0]]
        if any(isinstance(leaf, Variable) for leaf in leaves):
            return self._updated(params, grads, state, hyperparam)
        made = called_with(backprop_mode(False), self._updated, params, grads, state, hyperparam)
        return _arrays(made[0]), _arrays(made[1])

    def _updated(self, params: Any, grads: Any, state: State, hyperparam: Mapping[str, Any]) -> tuple[Any, State]:
        leaves, structure = flatten(params)
        ws = _variables(leaves, structure, "update: params")
        given = structure.leaves_of(grads, "update: grads")
        names = [name for name in state if name != "t"]
        kept = {
            name: _variables(structure.leaves_of(state[name], f"update: state[{name!r}]"), structure, "update: state")
            for name in names
        }
        before = as_leaf(state["t"], "update: state['t']")
        t = before + 1.0
        h = {
            name: value(before) if callable(value) else as_leaf(value, f"update: {name}") if is_array(value) else value
            for name, value in {**self.hyperparam, **hyperparam}.items()
        }
        numbers = self.formula.coefficients(h, t)
        places = [i for i, g in enumerate(given) if g is not None]
        gs = [as_leaf(given[i], "update: grads") for i in places]
        for hook in self.hooks:
            gs = hook.gradients([ws[i] for i in places], gs, before)
        cast: dict[Dtype, dict[str, Any]] = {}
        for i, g in zip(places, gs, strict=True):
            w, spec = ws[i], ws[i]._node.spec
            if w.dtype not in cast:
                cast[w.dtype] = {name: _cast(x, real_spec(spec).dtype) for name, x in numbers.items()}
            step = FormulaStep(self.formula, names, cast[w.dtype], spec)
            ws[i], *states = step(array_api, w, *(kept[name][i] for name in names), g)
            for name, x in zip(names, states, strict=True):
                kept[name][i] = x
        return structure.build(ws), {"t": t, **{name: structure.build(kept[name]) for name in names}}


def _cast(x: Any, dtype: Dtype) -> Any:
    if isinstance(x, Variable):
        return x if x.dtype == dtype else array_api.astype(x, dtype)
    return x if type(x) in OPTIONS else float(x)


def _variables(leaves: Sequence[Any], structure: Structure, what: str) -> list[Variable]:
    found = [as_leaf(leaf, what, path) for leaf, path in zip(leaves, structure.paths(), strict=True)]
    for x, path in zip(found, structure.paths(), strict=True):
        if not x._node.spec.differentiable:
            raise DtypeError(f"{what}{where(path)}: expected floating-point numbers, got {x._node.spec!r}; cast them")
    if not found:
        raise ValueError(f"{what}: expected a tree with arrays, got one without leaves")
    return found


def _time(variables: Sequence[Variable]) -> Variable:
    """Return 0 in the widest real dtype of the parameters, at least float32, which counts steps exactly."""
    x = min(variables, key=lambda x: float(x._node.spec.backend.finfo(x.dtype).eps))
    zero, spec = array_api.sum(array_api.zeros_like(constant_variable(x.array))), x._node.spec
    return array_api.real(zero) if spec.complex else array_api.astype(zero, spec.wide)


def _arrays(tree: Any) -> Any:
    leaves, structure = flatten(tree)
    return structure.build([x.array for x in leaves])
