"""C functions that reduce consecutive numbers or partial results pairwise, in an order fixed by the indices."""

from xpgrad_c.functions import C_TYPES, ITEMSIZES, kind

STORED = {name: "uint8_t" if name == "bool" else text for name, text in C_TYPES.items()}
"""The type of a number in memory."""

# Sums of eight vectors are combined in pairs, like the digits of a binary counter: level[i] holds 2**i such sums.
_TEMPLATE = """\
#ifndef XPGRAD_{op}_{dtype}
#define XPGRAD_{op}_{dtype}
typedef {type} {op}_{dtype}_t __attribute__((vector_size(64), aligned({size}), may_alias));
static inline {op}_{dtype}_t {op}_{dtype}_v({op}_{dtype}_t a, {op}_{dtype}_t b) {{ return {vector}; }}
static inline {type} {op}_{dtype}_2({type} a, {type} b) {{ return {scalar}; }}
static __attribute__((unused, noinline)) {type} {op}_{dtype}(const {type} *x, long n) {{
    {type} y = {identity};
    long i = 0;
    if (n >= {lanes}) {{
        const {op}_{dtype}_t *p = (const {op}_{dtype}_t *)x;
        {op}_{dtype}_t level[48], v;
        long vectors = n / {lanes}, runs = vectors / 8, depth = 0;
        for (long k = 0; k < runs; k++, p += 8) {{
            v = {op}_{dtype}_v({op}_{dtype}_v({op}_{dtype}_v(p[0], p[1]), {op}_{dtype}_v(p[2], p[3])),
                {op}_{dtype}_v({op}_{dtype}_v(p[4], p[5]), {op}_{dtype}_v(p[6], p[7])));
            for (long c = k; c & 1; c >>= 1) v = {op}_{dtype}_v(level[--depth], v);
            level[depth++] = v;
        }}
        if (vectors > 8 * runs) {{
            v = *p++;
            for (long k = 8 * runs + 1; k < vectors; k++) v = {op}_{dtype}_v(v, *p++);
        }} else v = level[--depth];
        while (depth) v = {op}_{dtype}_v(level[--depth], v);
        {type} lane[{lanes}];
        for (long k = 0; k < {lanes}; k++) lane[k] = v[k];
        for (long m = {lanes} / 2; m; m /= 2)
            for (long k = 0; k < m; k++) lane[k] = {op}_{dtype}_2(lane[k], lane[k + m]);
        y = lane[0];
        i = vectors * {lanes};
        if (i == n) return {op}_{dtype}_2({identity}, y);
    }}
    {type} rest = x[i];
    for (i++; i < n; i++) rest = {op}_{dtype}_2(rest, x[i]);
    return {op}_{dtype}_2({identity}, {op}_{dtype}_2(y, rest));
}}
static __attribute__((unused)) void {op}_{dtype}_columns({type} *x, long groups, long n) {{
    for (long step = 1; step < groups; step *= 2)
        for (long g = 0; g + step < groups; g += 2 * step) {{
            {type} *a = x + g * n;
            const {type} *b = x + (g + step) * n;
#pragma omp simd
            for (long i = 0; i < n; i++) a[i] = {op}_{dtype}_2(a[i], b[i]);
        }}
}}
#endif
"""

_INTEGER = {1: "int8_t", 2: "int16_t", 4: "int32_t", 8: "int64_t"}


def identity(op: str, dtype: str) -> str:
    """Return the C constant of an empty reduction, equal to that in NumPy, so that the sum of -0.0 is 0.0."""
    if kind(dtype) == "real":
        start = {"sum": "0", "prod": "1", "max": "-__builtin_inf()", "min": "__builtin_inf()"}[op]
    elif dtype == "bool":
        start = {"max": "0", "min": "1"}[op]
    else:
        low = "0" if dtype.startswith("u") else f"{dtype.upper()}_MIN"
        start = {"sum": "0", "prod": "1", "max": low, "min": f"{dtype.upper()}_MAX"}[op]
    return f"(({STORED[dtype]}){start})"


def combined(op: str, dtype: str, a: str, b: str) -> str:
    """Return two numbers in C combined as in a reduction. Of two numbers, either of them NaN, max and min are NaN."""
    if op in ("sum", "prod"):
        return f"{a} {'+' if op == 'sum' else '*'} {b}"
    sign = ">" if op == "max" else "<"
    if kind(dtype) == "real":
        return f"select_{C_TYPES[dtype]}(({a} {sign} {b}) | ({a} != {a}), {a}, {b})"
    return f"{a} {sign} {b} ? {a} : {b}"


def reduction(op: str, dtype: str) -> str:
    """Return the C functions of one reduction.

    ``OP_DTYPE(x, n)`` reduces ``n >= 1`` numbers; ``OP_DTYPE_columns(x, groups, n)`` reduces `groups` rows of `n`
    numbers into the first row.
    """
    size = ITEMSIZES[dtype]
    scalar = combined(op, dtype, "a", "b")
    if op in ("sum", "prod"):
        vector = scalar
    else:
        mask_type = f"mask_{op}_{dtype}"
        nan = " | (a != a)" if kind(dtype) == "real" else ""
        mask = f"({mask_type})((a {'>' if op == 'max' else '<'} b){nan})"
        vector = f"({op}_{dtype}_t)(({mask} & ({mask_type})a) | (~{mask} & ({mask_type})b))"
    text = _TEMPLATE.format(
        op=op,
        dtype=dtype,
        type=STORED[dtype],
        size=size,
        lanes=64 // size,
        identity=identity(op, dtype),
        vector=vector,
        scalar=scalar,
    )
    if op in ("max", "min"):
        line = f"typedef {_INTEGER[size]} mask_{op}_{dtype} __attribute__((vector_size(64)));\n"
        first = text.index("typedef")
        text = text[:first] + line + text[first:]
    return text
