"""The C part of a call: from array objects of the library to addresses, and back, without Python in between.

The source needs no Python header: it receives the addresses of a few functions of Python's stable C interface at run
time. `ArrayLayout` describes the library's array objects.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

API = (
    "PyObject_Vectorcall",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyTuple_GetItem",
    "PyBytes_AsString",
    "PyLong_FromVoidPtr",
    "PyObject_IsTrue",
    "Py_DecRef",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)

PLACES = "type", "data", "rank", "shape", "dtype", "flags", "inner", "none"
"""The offsets of a `ArrayLayout`."""
GLUE = r"""
typedef void *xp_object;
struct xp_record {
    void (*run)(char *const *, long, long, char *, char *);
    void (*end)(char *const *, char *);
    long inputs, outputs, chunks, scratch, partials, shared, points, any_order;
    long type_at, data_at, rank_at, shape_at, dtype_at, flags_at, inner_at, none_at, flags;
    void *type, *inner_type, *none;
    long specs[];
};
struct xp_job { const struct xp_record *record; char **arrays; char *partials; long running, ended; };
int sched_yield(void);
static struct {
    xp_object (*call)(xp_object, xp_object const *, unsigned long, xp_object);
    xp_object (*tuple)(long);
    int (*put)(xp_object, long, xp_object);
    xp_object (*item)(xp_object, long);
    char *(*bytes)(xp_object);
    xp_object (*number)(void *);
    int (*truth)(xp_object);
    void (*drop)(xp_object);
    void *(*leave)(void);
    void (*back)(void *);
} xp_api;
void xp_set_api(void *const *from) { __builtin_memcpy(&xp_api, from, sizeof xp_api); }
static char *xp_memory(long size, void **whole) {
    *whole = size > 0 ? __builtin_malloc((unsigned long)size + 64) : 0;
    return *whole ? (char *)(((unsigned long)*whole + 63) & ~63UL) : 0;
}
/* Some chunks of a job, with scratch memory of their own; 0 if there is no memory. */
static int xp_some(const struct xp_job *job, long first, long last) {
    const struct xp_record *record = job->record;
    void *whole;
    char *scratch = xp_memory(record->scratch, &whole);
    if (!scratch && record->scratch > 0) return 0;
    record->run(job->arrays, first, last, scratch, job->partials);
    __builtin_free(whole);
    return 1;
}
/* The same, in one of several threads, unless the call that has made the job has ended. */
int xp_chunks(struct xp_job *job, long first, long last) {
    __atomic_add_fetch(&job->running, 1, __ATOMIC_SEQ_CST);
    int done = __atomic_load_n(&job->ended, __ATOMIC_SEQ_CST) || xp_some(job, first, last);
    __atomic_sub_fetch(&job->running, 1, __ATOMIC_SEQ_CST);
    return done;
}
/* All chunks of a group; 0 if there is no memory. */
int xp_all(const struct xp_record *record, char **arrays) {
    void *whole;
    struct xp_job job = {record, arrays, xp_memory(record->partials, &whole), 0, 0};
    int done = (job.partials || record->partials <= 0) && xp_some(&job, 0, record->chunks);
    if (done && record->end) record->end(arrays, job.partials);
    __builtin_free(whole);
    return done;
}
/* The same, by a function of Python that shares the chunks among threads; -1 with an error of Python's. After an error,
   which may be an interrupt, threads may still have the job: those that compute are waited for, as arrays and partials
   are released then, and the job itself is kept for those that begin later. */
static int xp_shared(xp_object self, const struct xp_record *record, char **arrays) {
    void *whole;
    char *partials = xp_memory(record->partials, &whole);
    struct xp_job *job = partials || record->partials <= 0 ? __builtin_malloc(sizeof *job) : 0;
    int done = 0;
    if (job) {
        *job = (struct xp_job){record, arrays, partials, 0, 0};
        xp_object place = xp_api.number(job);
        xp_object answer = place ? xp_api.call(xp_api.item(self, 2), &place, 1, 0) : 0;
        done = answer ? xp_api.truth(answer) : -1;
        if (answer) xp_api.drop(answer);
        if (place) xp_api.drop(place);
        if (done < 0) {
            void *thread = xp_api.leave();
            __atomic_store_n(&job->ended, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&job->running, __ATOMIC_SEQ_CST)) sched_yield();
            xp_api.back(thread);
        } else {
            if (done && record->end) record->end(arrays, partials);
            __builtin_free(job);
        }
    }
    __builtin_free(whole);
    return done;
}
static void xp_drop_all(xp_object *copies, long count) {
    for (long i = 0; i < count; i++)
        if (copies[i]) xp_api.drop(copies[i]);
}
/* The object that has the fields: the array, or what is in it; 0 if that is of another type, or there is more. */
static char *xp_inner(const struct xp_record *record, char *array) {
    if (!record->inner_at) return array;
    if (*(void **)(array + record->none_at) != record->none) return 0;
    array = *(char **)(array + record->inner_at);
    return *(void **)(array + record->type_at) == record->inner_type ? array : 0;
}
/* self: the record, what to call instead, what shares chunks among threads, what copies, what makes each output. */
static xp_object xp_call(xp_object self, xp_object const *args, long count) {
    const struct xp_record *record = (const struct xp_record *)xp_api.bytes(xp_api.item(self, 0));
    long inputs = record->inputs, outputs = record->outputs;
    const long *spec = record->specs;
    char *arrays[inputs + outputs];
    xp_object copies[inputs + 1], made;
    long apart[inputs + 1], copied = 0, aparts = 0, matters = 0;
    int done;
    if (count != inputs) goto otherwise;
    for (long i = 0; i < inputs; i++) {
        char *array = args[i];
        if (*(void **)(array + record->type_at) != record->type) goto otherwise;
        if (!(array = xp_inner(record, array))) goto otherwise;
        long rank = spec[1], size = 1;
        if (*(long *)(array + record->dtype_at) != spec[0] || *(int *)(array + record->rank_at) != rank) goto otherwise;
        const long *shape = *(long **)(array + record->shape_at);
        spec += 2;
        for (long axis = 0; axis < rank; axis++)
            if (shape[axis] != *spec) goto otherwise;
            else size *= *spec++;
        matters += size > 1;
        if ((*(int *)(array + record->flags_at) & record->flags) != record->flags) {
            if (size > record->points) goto otherwise; /* of which few elements are used */
            apart[aparts++] = i;
        }
        arrays[i] = *(char **)(array + record->data_at);
    }
    if (aparts && record->any_order && aparts == matters) goto otherwise; /* maybe all in Fortran order */
    for (long k = 0; k < aparts; k++) {
        xp_object copy = xp_api.call(xp_api.item(self, 3), &args[apart[k]], 1, 0);
        if (!copy) { xp_drop_all(copies, copied); return 0; }
        copies[copied++] = copy;
        char *array = copy;
        if (*(void **)(array + record->type_at) != record->type) goto otherwise;
        if (!(array = xp_inner(record, array))) goto otherwise;
        if ((*(int *)(array + record->flags_at) & record->flags) != record->flags) goto otherwise;
        arrays[apart[k]] = *(char **)(array + record->data_at);
    }
    made = xp_api.tuple(outputs);
    if (!made) { xp_drop_all(copies, copied); return 0; }
    for (long i = 0; i < outputs; i++) {
        xp_object array = xp_api.call(xp_api.item(self, 4 + i), 0, 0, 0);
        if (!array) { xp_drop_all(copies, copied); xp_api.drop(made); return 0; }
        xp_api.put(made, i, array);
        char *fields = record->inner_at ? *(char **)((char *)array + record->inner_at) : (char *)array;
        arrays[inputs + i] = *(char **)(fields + record->data_at);
    }
    if (record->shared) {
        done = xp_shared(self, record, arrays);
    } else if (record->chunks > 1) {
        void *thread = xp_api.leave();
        done = xp_all(record, arrays);
        xp_api.back(thread);
    } else {
        done = xp_all(record, arrays);
    }
    if (done != 0) {
        xp_drop_all(copies, copied);
        if (done > 0) return made;
        xp_api.drop(made);
        return 0;
    }
    xp_api.drop(made);
otherwise:
    xp_drop_all(copies, copied);
    return xp_api.call(xp_api.item(self, 1), args, (unsigned long)count, 0);
}
struct { const char *name; void *function; int flags; const char *doc; } xp_method = {"fused", xp_call, 0x80, 0};
"""


class Record(ctypes.Structure):
    """Description of a group for `xp_call`, followed in memory by dtype, rank and shape of each input."""

    _fields_ = (
        ("run", ctypes.c_void_p),
        ("end", ctypes.c_void_p),
        *((name, ctypes.c_long) for name in ("inputs", "outputs", "chunks", "scratch", "partials", "shared", "points")),
        ("any_order", ctypes.c_long),
        *((f"{name}_at", ctypes.c_long) for name in PLACES),
        ("flags", ctypes.c_long),
        ("type", ctypes.c_void_p),
        ("inner_type", ctypes.c_void_p),
        ("none", ctypes.c_void_p),
    )


@functools.cache
def python_api() -> tuple[int, ...] | None:
    """Return the addresses of the functions of Python that the glue calls; None if this Python lacks any."""
    try:
        return tuple(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in API)
    except (AttributeError, ValueError):
        return None


def new_function(method: int, self: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the function of Python that a `PyMethodDef` at an address describes; it keeps `self`."""
    function: Callable[..., Any] = _maker()(method, self, None)
    return function


@functools.cache
def _maker() -> Any:
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return kind(("PyCFunction_NewEx", ctypes.pythonapi))
