/* The gradient of the largest elements of windows of 2 x 2 that tile images. They share it equally, as in NumPy's kernel, which
   takes three to ten times as long. A function computes a range of rows of windows, so that threads can share them.

   BYTES, 4 for float or 8 for double, is defined before this text. Branches would be mispredicted: bits are masked instead. */
#if BYTES == 4
typedef float real;
typedef int bits;
#else
typedef double real;
typedef long bits;
#endif
typedef union { real value; bits all; } number;

static inline real where(int condition, real value)
{
    number n;
    n.value = value;
    n.all &= -(bits)condition;
    return n.value;
}

int max_pool_backward(const real *restrict g, const real *restrict x, const real *restrict top, real *restrict y,
    long columns, long first, long last)
{
    for (long r = first; r < last; r++) {
        const real *restrict upper = x + 4 * r * columns, *restrict lower = upper + 2 * columns;
        const real *restrict given = g + r * columns, *restrict most = top + r * columns;
        real *restrict to_upper = y + 4 * r * columns, *restrict to_lower = to_upper + 2 * columns;
        for (long c = 0; c < columns; c++) {
            const int a = upper[2 * c] == most[c], b = upper[2 * c + 1] == most[c];
            const int d = lower[2 * c] == most[c], e = lower[2 * c + 1] == most[c];
            const int count = a + b + d + e; /* 0 if all elements are NaN */
            const real share = given[c] / (real)(count + !count);
            to_upper[2 * c] = where(a, share);
            to_upper[2 * c + 1] = where(b, share);
            to_lower[2 * c] = where(d, share);
            to_lower[2 * c + 1] = where(e, share);
        }
    }
    return 1;
}
