"""Family P, threads: current devices, modes and random streams belong to one thread each."""

import functools
from typing import Any

from xpgrad import config, grad, no_backprop_mode, using_config, using_device
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import COUNT, Held, run_concurrently
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_same_bits


@check("P06", needs=("threads",))
def several_devices(s: Subject) -> None:
    """Threads that compute on several devices simultaneously get results on the devices of their arrays."""
    hosts = [s.values((5, 7), -1.0, 1.0) for _ in range(COUNT)]

    def computed(i: int) -> None:
        device = s.pair[i % 2]
        with using_device(device):
            x = s.variable(hosts[i], device=device)
            for _ in range(3):
                y = x * x + x
                g = grad([y], [x], [y])[0]
                wide = hosts[i].astype(float)
                value = wide * wide + wide
                s.expect(y, value, f"x * x + x in thread {i}, on {device},", device=device)
                s.expect(g, value * (2 * wide + 1), f"its gradient in thread {i}", device=device)

    run_concurrently([functools.partial(computed, i) for i in range(COUNT)])


@check("P07", needs=("threads",))
def configuration(s: Subject) -> None:
    """Computations of one thread, in any mode, do not change the mode of other threads."""
    host = s.values((3, 4))

    def program() -> Any:
        x = s.variable(host)
        y = s.xp.tanh(x * 2.0)
        assert y.requires_grad, "a result requires no gradient, although this thread has not said so"
        return s.host(grad([s.xp.sum(y)], [x])[0])

    expected = program()
    for name, enter in (("no_backprop_mode", no_backprop_mode), ("debug mode", lambda: using_config("debug", True))):

        def elsewhere(enter: Any = enter) -> None:
            with enter():
                s.xp.tanh(s.variable(host) * 2.0)

        with Held(enter):
            assert_same_bits(
                program(), expected, f"a gradient while another thread is in {name}, and in a single thread,"
            )
            seen = config.enable_backprop, config.debug
            assert seen == (True, False), f"{name} of another thread shows in the configuration"
        found = run_concurrently([program, elsewhere] * (COUNT // 2))
        for got in found[::2]:
            assert_same_bits(
                got, expected, f"a gradient during computations in {name} of another thread, and in a single thread,"
            )
