"""When the arrays of a program are needed last, and how many bytes they hold meanwhile."""

from collections.abc import Iterable, Iterator

from xpgrad.transforms.trace.aliases import to_copy
from xpgrad.transforms.trace.calls import Call, CallSequence, Value

VIEWS = frozenset(
    [
        *("broadcast_arrays", "broadcast_to", "expand_dims", "flip", "getitem", "imag", "matrix_transpose", "moveaxis"),
        *("permute_dims", "real", "reshape", "squeeze", "unstack", "x[]", "linalg.matrix_transpose", "linalg.diagonal"),
    ]
)
"""Names of functions whose results are views in most libraries and cases: their bytes are not counted again."""


MIN_ROOM = 2**20
"""Bytes that results may hold at a time in any case: no pass saves memory below this."""


def last_uses(program: CallSequence) -> list[tuple[Value, ...]]:
    """Return for each call the values that no later call needs: its last operands, and unused results.

    Outputs are needed at the end, so the lists exclude them; inputs belong to the caller.
    """
    seen: set[Value] = {item for item in program.outputs if isinstance(item, Value)}
    seen.update(program.inputs)
    found: list[tuple[Value, ...]] = []
    for call in reversed(program.calls):
        last: list[Value] = []
        for value in (*call.operands(), *call.results):
            if value not in seen:
                seen.add(value)
                last.append(value)
        found.append(tuple(last))
    found.reverse()
    return found


class MemoryCount:
    """Counts the bytes that results of calls hold: `now`, and at most until now."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._pieces: dict[Value, tuple[int, ...]] = {}
        self._sizes: list[int] = []
        self._holders: list[int] = []

    def run(self, call: Call, frees: Iterable[Value]) -> None:
        """Count the bytes that a call allocates, and then the bytes of the values that it frees."""
        view = call.name in VIEWS or call.out is not None
        of = (call.out,) if call.out is not None else call.operands() if view else ()
        shared = tuple({piece for value in of for piece in self._pieces.get(value, ())})
        for value in call.results:
            self._pieces[value] = pieces = shared if view else (self._new(value),)
            for piece in pieces:
                self._holders[piece] += 1
        self.most = max(self.most, self.now)
        for value in frees:
            for piece in self._pieces.pop(value, ()):
                self._holders[piece] -= 1
                if not self._holders[piece]:
                    self.now -= self._sizes[piece]

    def _new(self, value: Value) -> int:
        self.now += value.nbytes
        self._sizes.append(value.nbytes)
        self._holders.append(0)
        return len(self._sizes) - 1


def peak(program: CallSequence) -> int:
    """Return the largest number of bytes that results hold at a time, according to freed and reused memory."""
    memory = MemoryCount()
    for call in program.calls:
        memory.run(call, call.frees)
    copied = zip(program.outputs, to_copy(program), strict=True)
    copies = sum(item.nbytes for item, needed in copied if needed and isinstance(item, Value))
    return max(memory.most, memory.now + copies)


class Profile:
    """The bytes that results hold after each call, with `room` up to the largest of these numbers."""

    BLOCK = 128

    def __init__(self, program: CallSequence, uses: list[tuple[Value, ...]]) -> None:
        memory = MemoryCount()
        self._held: list[int] = []
        for call, last in zip(program.calls, uses, strict=True):
            memory.run(call, last)
            self._held.append(memory.now)
        self.room = max(memory.most, MIN_ROOM)
        blocks = range(0, len(self._held), self.BLOCK)
        self._most = [max(self._held[i : i + self.BLOCK]) for i in blocks]  # without the sizes added to whole blocks
        self._added = [0] * len(self._most)

    def extend(self, start: int, stop: int, size: int) -> bool:
        """Hold `size` bytes more from one call to another if the room suffices, and return whether it does."""
        for block, whole, places in self._blocks(start, stop):
            held = self._most[block] if whole else max(self._held[i] for i in places)
            if held + self._added[block] + size > self.room:
                return False
        for block, whole, places in self._blocks(start, stop):
            if whole:
                self._added[block] += size
            else:
                for i in places:
                    self._held[i] += size
                self._most[block] = max(self._held[block * self.BLOCK : (block + 1) * self.BLOCK])
        return True

    def _blocks(self, start: int, stop: int) -> Iterator[tuple[int, bool, range]]:
        for block in range(start // self.BLOCK, (max(start, stop - 1)) // self.BLOCK + 1):
            first, end = block * self.BLOCK, min((block + 1) * self.BLOCK, len(self._held))
            places = range(max(start, first), min(stop, end))
            if places:
                yield block, len(places) == end - first, places


def peak_of(program: CallSequence) -> tuple[int, int]:
    """Return the most bytes that results hold at a time, each until its last use, and the number of the call then."""
    memory, most, where = MemoryCount(), 0, 0
    for i, (call, last) in enumerate(zip(program.calls, last_uses(program), strict=True)):
        memory.run(call, last)
        if memory.most > most:
            most, where = memory.most, i
    return most, where
