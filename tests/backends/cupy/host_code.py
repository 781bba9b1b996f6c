"""CUDA's C++ as a program for the host. Each thread of a block is a fiber, and takes its turn.

A fiber runs to the next barrier before the next fiber starts, in order or in reverse, so that a missing barrier is
detected. A thread that ends while another thread waits at a barrier is an error.
"""

import ctypes
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HEADERS = """
#include <cmath>
#include <cstring>
#include <cstdlib>
#include <utility>
#include <ucontext.h>
"""
"""The file that is compiled once, which saves half of the time."""
HEAD = """
#include "heads.hpp"
using namespace std;
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(n)
static double __longlong_as_double(long long x) { double y; memcpy(&y, &x, sizeof y); return y; }
struct Place { unsigned x, y, z; };
static volatile Place threadIdx, blockIdx, blockDim, gridDim;
static ucontext_t outside, fibers[1024];
static bool ended[1024];
static int current;
static void __syncthreads() { swapcontext(&fibers[current], &outside); }
"""

TAIL = """
static void** arguments;
template <class... P, size_t... I> static void call(void (*f)(P...), index_sequence<I...>) { f((P)arguments[I]...); }
template <class... P> static void call(void (*f)(P...)) { call(f, index_sequence_for<P...>()); }
static void fiber() { call(KERNEL); ended[current] = true; swapcontext(&fibers[current], &outside); }
extern "C" int run(void** given, long long blocks, int lanes, int slots, int backwards) {
    const int threads = lanes * slots, size = 1 << 17;
    static char* stacks = (char*)malloc(1024 * (size_t)size);
    arguments = given;
    blockDim.x = lanes, blockDim.y = slots, gridDim.x = blocks;
    for (long long b = 0; b < blocks; ++b) {
        blockIdx.x = b;
        for (int t = 0; t < threads; ++t) {
            getcontext(&fibers[t]);
            fibers[t].uc_stack.ss_sp = stacks + t * (size_t)size, fibers[t].uc_stack.ss_size = size;
            makecontext(&fibers[t], fiber, 0);
            ended[t] = false;
        }
        for (int over = 0; over < threads;) {
            for (int k = 0; k < threads; ++k) {
                current = backwards ? threads - 1 - k : k;
                threadIdx.x = current % lanes, threadIdx.y = current / lanes;
                swapcontext(&outside, &fibers[current]);
                over += ended[current];
            }
            if (over && over < threads) return 1;
        }
    }
    return 0;
}
"""


def program_of(source: str, name: str) -> str:
    """Return the text of the program, whose function ``run`` runs all blocks of a kernel."""
    return HEAD + source + TAIL.replace("KERNEL", name)


class CompileException(Exception):
    """Error of CuPy for source that does not compile."""


_loaded: dict[str, Any] = {}
_folder = tempfile.TemporaryDirectory()


def compiled(source: str) -> Any:
    """Return the function `run` of a text in C++."""
    key = hashlib.sha256(source.encode()).hexdigest()[:24]
    if key not in _loaded:
        path = Path(_folder.name) / key
        path.with_suffix(".cpp").write_text(source)
        flags = ["-O1", "-ffp-contract=off", "-shared", "-fPIC", "-std=c++17"]
        if not _loaded:
            heads = Path(_folder.name) / "heads.hpp"
            heads.write_text(HEADERS)
            subprocess.run(["g++", *flags, "-x", "c++-header", heads, "-o", f"{heads}.gch"], check=True)
        command = ["g++", *flags, f"{path}.cpp", "-o", f"{path}.so"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileException(f"{done.stderr}\n{source}")
        _loaded[key] = ctypes.CDLL(f"{path}.so").run
    return _loaded[key]
