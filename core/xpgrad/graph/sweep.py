"""The sweep: reverse-mode differentiation of a graph, raw or recorded, in one loop.

All state is in the sweep: cotangents in a dictionary keyed by function (the output of most), by function and index
(further outputs) or by node (roots). So sweeps nest and run in parallel on one graph, and a sweep that raises leaves no
trace. Inside, a complex cotangent is the conjugate of the gradient that users see.
"""

from collections.abc import Iterable, Sequence, Set
from itertools import zip_longest
from sys import getrefcount
from typing import Any

from xpgrad.backend.checks import same_place
from xpgrad.backend.levels import lifted_spec
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import NO_GRAD, WATCHED, backprop_mode, called_with, config, switches
from xpgrad.errors import GradientError, GraphError
from xpgrad.graph import hooked
from xpgrad.graph.application import released
from xpgrad.graph.blockwise import IN_A_LOCAL, IN_AN_ARGUMENT, blocks_of
from xpgrad.graph.fitting import fit
from xpgrad.graph.function_node import RELEASED
from xpgrad.graph.gradients import check_device
from xpgrad.graph.lazy import Gathered, Lazy, added, as_array, dense
from xpgrad.graph.methods.cuts import active, running
from xpgrad.graph.node import FunctionBase, VariableNode
from xpgrad.graph.private import check_unwritten, private
from xpgrad.graph.pullback import Pullback
from xpgrad.graph.queue import RankQueue
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable
from xpgrad.types import Array
from xpgrad.watch import anomaly, inspection
from xpgrad.watch.observation import by_user, writing

Key = Any  # FunctionBase | tuple[FunctionBase, int] | VariableNode


def key_of(node: VariableNode) -> Key:
    """Return under which key a node's cotangent is collected."""
    creator = node.creator_node
    if creator is None or (creator.pullback is None and node.live_creator() is None):
        return node
    extra = node.extra
    return creator if extra is None or not extra.index else (creator, extra.index)


class Sweep:
    """One sweep.

    Parameters
    ----------
    seeds : list of (VariableNode, cotangent)
        Arrays, or Variables if the sweep is recorded; as users see them.
    recorded : bool
        Compute on Variables, so that the results can be differentiated again.
    active : dict from FunctionBase to bool, optional
        The functions between the seeds and a requested input, all by default; and for each function whether it has
        further inputs, whose gradients are not needed.
    watch : set of keys
        Keys whose totals are kept; totals of roots are always kept.
    retain : bool
        Keep the totals of all live intermediate Variables.
    retain_graph : bool

    Attributes
    ----------
    totals : dict from key to cotangent
        Accumulated gradients; each owns its memory.
    retained : list of (VariableNode, cotangent)
    """

    def __init__(
        self, seeds: Iterable[tuple[VariableNode, Any]], *, recorded: bool = False,
        active: dict[FunctionBase, bool] | None = None, watch: Set[Key] = frozenset(), retain: bool = False,
        retain_graph: bool = True,
    ) -> None:  # fmt: skip
        if recorded and not retain_graph:
            raise GraphError("a sweep with enable_double_backprop=True needs its graph; use retain_graph=True")
        self.recorded, self.active, self.watch, self.retain = recorded, active, watch, retain
        # Recorded sweeps: gradients of roots from users' functions, before and after conversion.
        self.made: dict[Key, tuple[Any, Variable]] = {}
        self.named: dict[VariableNode, Variable] = {}
        self.retain_graph = retain_graph
        self.careful = bool(switches().mode & WATCHED)
        self.slots: dict[Key, Any] = {}
        self.owned: set[Key] = set()  # slots whose total is a new array of the sweep, computed by addition
        self.borrowed: set[Key] = set()  # slots of roots whose only contribution may share memory with another array
        self.nodes: dict[Key, VariableNode] = {}
        self.totals: dict[Key, Any] = {}
        self.retained: list[tuple[VariableNode, Any]] = []
        self.queue = RankQueue()
        self.queued: set[FunctionBase] = set()  # queued functions that are not primitives
        self.wanted = retain  # totals of intermediate values
        for key in watch:
            self.wanted |= not isinstance(key, VariableNode)
        self.note_all = recorded or self.wanted
        self.seeds: list[tuple[VariableNode, Any]] = []
        self.given: dict[int, Array] = {}  # arrays that users hold already, kept alive
        for node, g in seeds:
            g = self._conjugated(g, node.spec) if node.spec.complex else g
            self.seeds.append((node, g))
            array = g._array if isinstance(g, Variable) else g
            self.given[id(array)] = array

    def __repr__(self) -> str:
        kind = "recorded" if self.recorded else "raw"
        seeds = ", ".join(node.label for node, _ in self.seeds) or "nothing"
        return f"<{type(self).__name__}: {kind}, from {seeds}; {len(self.totals)} totals>"

    def run(self) -> "Sweep":
        """Run the sweep to its end, and return it."""
        values: dict[Any, Any] = {anomaly.running: None} if self.careful else {}
        if self.recorded and switches().mode & NO_GRAD:
            values |= backprop_mode(True)
        if running():
            values[active] = ()  # rules may use comparisons and the like
        return called_with(values, self._run) if values else self._run()

    def _run(self) -> "Sweep":
        """Run the functions in the order of the queue; this is the hot loop.

        A function that was just discovered need not pass through the queue if no queued function precedes it, as at
        every step of a chain: it is the candidate.
        """
        for node, g in self.seeds:
            self._deposit(node, g, True)
        slots, nodes, active, borrowed, queue = self.slots, self.nodes, self.active, self.borrowed, self.queue
        recorded, careful, note_all, release = self.recorded, self.careful, self.note_all, not self.retain_graph
        batch, ranks, push, pop = queue.batch, queue.ranks, queue.push, queue.pop
        plain = not recorded and not careful
        f: Any = pop()
        while f is not None:
            pullback, candidate = f.pullback, None
            if pullback is None or pullback is RELEASED:
                self._general(f)
                f = pop()
                continue
            gy = slots.pop(f)
            made: VariableNode | None = None  # the node of the output, if it was noted
            array_type = Variable if recorded else pullback.array_type
            if type(gy) is not array_type or (nodes and f in nodes) or (active and active[f]):
                gy, made, pullback = self._prepared(f, pullback, gy)
                if pullback is None:  # a hook has unchained the function
                    f = pop()
                    continue
            try:
                if plain:
                    gxs = pullback.pull(f, gy)
                else:
                    gxs = self._watched(f, pullback, gy, made) if careful else pullback.record(f, gy, made)
            except Exception as error:
                self._explain(error, f)
                raise
            if f.pullback is RELEASED:  # by a hook or another thread: the rules may have found None for an array
                raise released(f)
            elementwise = pullback.elementwise
            if pullback.only_first:  # a separate pair takes half of the time
                pairs: Any = ((f.input, gxs[0]),)
            else:
                inputs = f.input if pullback.several else (f.input, f.other)
                pairs = zip(inputs, gxs)  # noqa: B905 - a pullback may stop at the last needed input
            for node, gx in pairs:
                if gx is None or node is None or not node.requires_grad:
                    continue
                spec, creator = node.spec, node.creator_node
                if gx.shape != spec.shape or gx.dtype is not spec.dtype:
                    gx = fit(gx, spec, f, elementwise)
                key = node if creator is None else creator
                if creator is not None and (note_all or spec.blocked or node.extra is not None):
                    key = self._noted(node, creator)
                held = slots.get(key)
                if held is not None:
                    lazy, simple = type(held) is Gathered, type(held) is array_type is type(gx) and not spec.large
                    slots[key] = held.add(gx) if lazy else held + gx if simple else self._sum(key, held, gx, spec)
                    continue
                slots[key] = gx
                if creator is None:
                    if gx is gy:
                        borrowed.add(key)
                    continue
                if creator.pullback is None or (active is not None and creator not in active):
                    creator = self._reached(key, node, gx is gy)
                candidate = creator if candidate is None else queue.candidate(candidate, creator)
            if release:
                f.release()
            # Large arrays are freed before the next arrays are allocated, so that these reuse the memory.
            pairs, gxs, gx, gy, held = (), (), None, None, None
            if candidate is not None and (batch or (ranks and candidate.rank <= -ranks[0])):
                push(candidate)
                candidate = None
            f = candidate if candidate is not None else pop() if batch or ranks else None
        return self._finished()

    def _prepared(
        self, f: FunctionBase, pullback: Pullback, gy: Any
    ) -> tuple[Any, VariableNode | None, Pullback | None]:
        """Return the complete cotangent of `f`, dense, the node of its output, and the pullback of needed inputs."""
        node = self.nodes.pop(f, None)
        large = node is not None and node.spec.blocked and not self.note_all and not self.careful
        owned = large and getrefcount(gy) <= IN_AN_ARGUMENT
        if type(gy) is not pullback.array_type and type(gy) is not Variable:
            gy = dense(gy, self.recorded)
            gy, owned = gy if type(gy) is Variable else pullback.restore(gy), False
        if node is not None and (self.wanted or node.extra is not None):
            gy = self._total(f, node, gy)
            owned = False  # somebody may have kept it
            if f.pullback is None:
                return gy, node, None
        if self.active and self.active[f]:
            pullback = self._narrowed(f, pullback)
        if large and type(pullback) is Pullback:
            return gy, node, self._in_blocks(f, pullback, owned and not pullback.backend.is_view(gy))
        return gy, node, pullback

    def _watched(self, f: FunctionBase, pullback: Pullback, gy: Any, made: VariableNode | None) -> Sequence[Any]:
        inner = getattr(pullback, "inner", pullback)  # without its hooks, which are among the hooks of `f`
        return hooked.watched(f, inner, gy, made, inspection.hooks_of(f), recorded=self.recorded)

    def _in_blocks(self, f: FunctionBase, pullback: Pullback, owned: bool) -> Any:
        """Return the replacement of `pullback` for a large cotangent, which may be overwritten if `owned`."""
        blocks = blocks_of(pullback)
        if blocks is None:
            return pullback
        return blocks.with_totals([self._own_total(f.input_nodes[place]) for place in blocks.places], owned)

    def _own_total(self, node: VariableNode) -> Any:
        """Return the cotangent accumulated at `node` if only the sweep refers to its array, None otherwise."""
        held = self.slots.get(key_of(node))
        backend = node.spec.backend
        if type(held) is not backend.array_types[0] or not node.spec.blocked or backend.is_view(held):
            return None
        return held if getrefcount(held) <= IN_A_LOCAL + 1 else None  # and in its slot

    def _explain(self, error: Exception, f: FunctionBase) -> None:
        """Say more about an error of the rules of `f`: that these were released meanwhile, or where `f` was applied."""
        if self.careful:  # the error was already explained
            return
        if f.pullback is RELEASED:
            raise released(f) from None
        inspection.explain(error, f)

    def _noted(self, node: VariableNode, creator: FunctionBase) -> Key:
        """Return the key of a node that has a creator, and note the node for the time when its total is known."""
        extra = node.extra
        key = creator if extra is None or not extra.index else (creator, extra.index)
        self.nodes[key] = node
        return key

    def _reached(self, key: Key, node: VariableNode, borrowed: bool) -> FunctionBase | None:
        """Return the creator of a node that got its first contribution, if it has to be queued for that."""
        creator = node.creator_node
        if creator is None or (self.active is not None and creator not in self.active):
            return None
        if creator.pullback is None:
            if creator in self.queued:
                return None
            if node.live_creator() is None:  # unchained, and the node is a root from now on
                self.slots[node] = self.slots.pop(key)
                self.nodes.pop(key, None)
                if borrowed:
                    self.borrowed.add(node)
                return None
            self.queued.add(creator)
        return creator

    def _finished(self) -> "Sweep":
        everything = self.active is None
        for key in tuple(self.slots):
            if key in self.watch or (everything and isinstance(key, VariableNode)):
                self._finish(key)
        self.made.clear()
        for node, g in self.named.items():
            if node.variable() is None:
                node.refer_to(g)
        return self

    def _narrowed(self, f: FunctionBase, pullback: Pullback) -> Pullback:
        """Return the pullback restricted to inputs that lead to a requested input."""
        pairs = zip_longest(pullback.needed, f.input_nodes)
        return pullback.narrowed(tuple(need and node is not None and self._leads(node) for need, node in pairs))

    def _leads(self, node: VariableNode) -> bool:
        """Return whether this sweep needs a cotangent of `node`."""
        return self.active is None or node.creator_node in self.active or key_of(node) in self.watch

    # Depositing

    def _deposit(self, node: VariableNode, gx: Any, borrowed: bool) -> None:
        """Put a contribution that did not come from a primitive into its slot, and queue the function that made it."""
        key, creator = key_of(node), node.creator_node
        if self.note_all or self.careful or node.spec.blocked or node.extra is not None:
            self.nodes[key] = node
        held = self.slots.get(key)
        if held is not None:
            self.slots[key] = self._sum(key, held, gx, node.spec)
            return
        self.slots[key] = gx
        if borrowed:
            self.borrowed.add(key)
        if creator is not None and (creator.pullback is None or self.active is not None):
            creator = self._reached(key, node, borrowed)
        if creator is not None:
            self.queue.push(creator)

    def _sum(self, key: Key, held: Any, gx: Any, spec: Spec) -> Any:
        """Return ``held + gx``; a total that the sweep has made itself may be written to."""
        if key in self.owned and spec.large and not isinstance(gx, Lazy):
            return spec.backend.xp.accumulate(held, gx)
        if isinstance(held, (Gathered, Lazy)) or isinstance(gx, Lazy):
            self.owned.discard(key)
            gathered = held if type(held) is Gathered else Gathered(spec, self.recorded, held)
            return gathered.add(gx)
        if not self.recorded:
            self.owned.add(key)
            self.borrowed.discard(key)
            if spec.blocked and getrefcount(held) <= IN_AN_ARGUMENT + 1 and not spec.backend.is_view(held):
                return spec.backend.xp.accumulate(held, gx)
        return added(held, gx, spec, self.recorded)

    # Completed cotangents

    def _total(self, key: Key, node: VariableNode, gy: Any) -> Any:
        """Call the hooks of `node` with its complete cotangent, store it if requested, and return it."""
        extra = node.extra
        handed = self._private
        _check_array(node)
        if extra is not None and extra.hooks:
            gy = self._hooked(node, gy)
            handed = self._copied  # the hook may have kept a reference
        if key in self.watch:
            self.totals[key] = handed(self._conjugated(gy, node.spec))
        if self.retain and node.get_variable_or_none() is not None:
            self.retained.append((node, handed(self._conjugated(gy, node.spec))))
        return gy

    def _hooked(self, node: VariableNode, gy: Any) -> Any:
        """Return the complete cotangent of `node` after its hooks; each hook gets a copy, and may write into it."""
        seen = self._conjugated(gy, node.spec)
        for hook in tuple(node.extra.hooks.values()):  # type: ignore[union-attr]  # the caller looked
            before = seen
            if not isinstance(seen, Variable):
                before = Variable(as_array(seen, node.spec.backend), requires_grad=False)
            given = private(before)
            result = by_user(hook, given)
            if self.recorded and given._node is before._node:
                check_unwritten(given._array, before._array, f"register_hook: the hook of {node.label}")
                given = before
            if result is not None:
                given = result if isinstance(result, Variable) else Variable(result, requires_grad=False)
            if not same_place(given._node.spec, lifted_spec(node.spec)):
                raise GradientError(
                    f"register_hook: the hook of {node.label} returned {given._node.spec!r} on {given.device}; "
                    f"expected the array's shape and dtype on {node.device}"
                )
            seen = given if self.recorded else given._array
        return self._conjugated(seen, node.spec)

    def _finish(self, key: Key) -> None:
        """Move the cotangent of a root, or of a watched value whose function did not run, to the totals."""
        g = self.slots.pop(key)
        node = key if isinstance(key, VariableNode) else self.nodes[key]
        spec = node.spec
        _check_array(node)
        if type(g) not in plugins.by_type and type(g) is not Variable:
            g = dense(g, self.recorded)
            if not self.recorded:
                g = as_array(g, spec.backend)
        if node.extra is not None and node.extra.hooks:
            g = self._hooked(node, g)
            self.borrowed.add(key)  # the hook may have kept it
        if self.careful and config.anomaly:
            anomaly.check_total(g._array if type(g) is Variable else g, node)
        if self.made and self._kept_creator(key, g):
            return
        if spec.complex:
            g = self._conjugated(g, spec)
        if spec.backend.has_layouts and type(g) is not Variable:
            g = spec.backend.laid_out(g, spec)
        if key in self.borrowed and not (
            spec.blocked and type(g) is not Variable and getrefcount(g) <= IN_A_LOCAL and not spec.backend.is_view(g)
        ):
            self.totals[key] = self._copied(g)
        else:
            self.totals[key] = g if key in self.owned else self._private(g)

    def _kept_creator(self, key: Key, g: Any) -> bool:
        """Store the Variable that a user's function returned as a root's total; return whether it exists."""
        arrived, made = self.made.get(key, (None, None))
        if made is None or arrived is not g or made._node in self.named:
            return False
        self.named[made._node] = self.totals[key] = private(made)
        return True

    def _private(self, g: Any) -> Any:
        """Return `g` in memory that no other gradient shares."""
        array = g._array if type(g) is Variable else g
        backend = plugins.by_type.get(type(array))
        if backend is None:
            return plugins.host.restore(array)
        if backend.immutable:
            return g
        if id(array) in self.given or backend.is_view(array):
            return self._copied(g)
        self.given[id(array)] = array
        return g

    def _copied(self, g: Any) -> Any:
        if isinstance(g, Variable):
            return slot.functions.copy(g)
        backend = plugins.backend_of(g)
        return g if backend.immutable else backend.copy(g)

    @staticmethod
    def _conjugated(g: Any, spec: Spec) -> Any:
        if not spec.complex:
            return g
        return slot.functions.conj(g) if isinstance(g, Variable) else spec.backend.restore(spec.backend.xp.conj(g))

    # Functions that are not primitives

    def _general(self, f: FunctionBase) -> None:
        """Run the `backward` of a function that is not a primitive, on Variables."""
        if f.pullback is RELEASED:
            raise released(f)
        if f not in self.queued:  # it has two outputs, and was run before
            return
        self.queued.discard(f)
        if f.inputs is None:  # never applied, or unchained by a hook just now
            self.slots.pop(f, None)
            return
        hooks = inspection.hooks_of(f) if self.careful or f._hooks else []
        copied = not f.of_library or writing(hooks)  # users may write to their gradients
        gys, shared = self._cotangents(f, copied)
        targets = tuple(i for i, node in enumerate(f.inputs) if node.requires_grad and self._leads(node))
        if not targets:
            return
        if hooks or self.careful or f._guards is not None:
            gxs = hooked.watched_by_user(f, gys, targets, hooks, self, copied=copied)
        else:
            try:
                gxs = hooked.pulled(f, gys, targets, self)
            except Exception as error:
                self._explain(error, f)
                raise
        if copied and self.recorded:
            for g, before in zip(gys, shared, strict=True):
                if g is not None:
                    check_unwritten(g._array, before._array, f.label)
        self._deposit_all(f, gxs)
        if not self.retain_graph:
            f.release()

    def _cotangents(self, f: FunctionBase, copied: bool) -> tuple[list[Any], list[Any]]:
        """Return the complete cotangents of all outputs of `f`, as users see them, and the same before `copied`."""
        gys, shared = list[Any](), list[Any]()
        for index in range(max(len(f.outputs or ()), 1)):
            key = (f, index) if index else f
            g = self.slots.pop(key, None)
            node = self.nodes.pop(key, None)
            mine = g
            if g is not None:
                g = dense(g, self.recorded)
                if not isinstance(g, Variable) and type(g) not in plugins.by_type:
                    g = as_array(g, f.inputs[0].spec.backend)
                if node is not None:
                    g = self._total(key, node, g)
                mine = g = g if isinstance(g, Variable) else Variable(g, requires_grad=False)
                mine = g = self._conjugated(g, g._node.spec)
                if copied and (self.recorded or key not in self.owned or id(g._array) in self.given):
                    mine = private(g)
            shared.append(g)
            gys.append(mine)
        return gys, shared

    def _deposit_all(self, f: FunctionBase, gxs: Sequence[Any]) -> None:
        """Store the gradients that the `backward` of `f` returned in the slots of its inputs."""
        for node, gx in zip(f.inputs, gxs, strict=True):
            if gx is not None and node.requires_grad:
                check_device(gx._node.spec, node.spec, f.label)
                made, gx = gx, self._conjugated(gx, gx._node.spec)
                given = gx if self.recorded else gx._array
                if gx.shape != node.shape or gx.dtype is not node.dtype:
                    given = fit(given, node.spec, f, f.is_elementwise)
                elif self.recorded and not f.of_library and node.creator_node is None and made.creator_node is not None:
                    self.made.setdefault(node, (gx, made))
                self._deposit(node, given, True)


def _check_array(node: VariableNode) -> None:
    """Raise if the array of a live Variable was reshaped or cast in place: its gradient fits the node."""
    variable = node() if node.extra is None else node.variable()
    if variable is not None and variable._node is node:
        variable._current("backward")
