/* Cumulative sums and products in NumPy's order: of several rows at once, as each result waits for the one before.

   BYTES, 4 for float or 8 for double, is defined before this text. Arrays have the shape (rows, n, inner); `step` is -1 if
   `x` is read from its end, else 1. A function computes a range of rows, so that threads can share them. */
#if BYTES == 4
typedef float real;
#else
typedef double real;
#endif
#include <stdlib.h>
#define ROWS 8

#define SCAN(NAME, OP)                                                                                                 \
    static inline __attribute__((always_inline)) void NAME##_rows(const real *restrict x, real *restrict y, long n,    \
        long step, const int rows)                                                                                     \
    {                                                                                                                  \
        real last[ROWS];                                                                                               \
        for (int r = 0; r < rows; r++) y[r * n] = last[r] = x[r * n];                                                  \
        for (long j = 1; j < n; j++)                                                                                   \
            for (int r = 0; r < rows; r++) y[r * n + j] = last[r] = last[r] OP x[r * n + j * step];                    \
    }                                                                                                                  \
    int NAME(const real *restrict x, real *restrict y, long n, long inner, long step, long first, long last)           \
    {                                                                                                                  \
        for (; inner == 1 && first + ROWS <= last; first += ROWS) NAME##_rows(x + first * n, y + first * n, n, step, ROWS); \
        for (; inner == 1 && first < last; first++) NAME##_rows(x + first * n, y + first * n, n, step, 1);             \
        for (; first < last; first++) {                                                                                \
            const real *restrict from = x + first * n * inner;                                                         \
            real *restrict to = y + first * n * inner;                                                                 \
            for (long i = 0; i < inner; i++) to[i] = from[i];                                                          \
            for (long j = 1; j < n; j++)                                                                               \
                for (long i = 0; i < inner; i++)                                                                       \
                    to[j * inner + i] = to[(j - 1) * inner + i] OP from[j * step * inner + i];                         \
        }                                                                                                              \
        return 1;                                                                                                      \
    }
SCAN(add, +)
SCAN(multiply, *)

/* `g` of each row times the products of all other elements of the row, by a tree of pairwise products: level by level
   upwards, then down to the elements. 0 if there is no memory. */
int others(const real *restrict x, const real *restrict g, real *restrict y, long n, long first, long last)
{
    real *tree = malloc(sizeof(real) * (3 * n + 64)), *outside = tree + 2 * n + 64;
    if (!tree) return 0;
    for (; first < last; first++) {
        long sizes[64], depth = 0, count = n;
        real *level = tree, *to = y + first * n;
        for (long i = 0; i < n; i++) level[i] = x[first * n + i];
        for (; count > 1; sizes[depth++] = count, level += count, count = (count + 1) / 2)
            for (long i = 0, half = (count + 1) / 2; i < half; i++)
                level[count + i] = half + i < count ? level[i] * level[half + i] : level[i];
        to[0] = 1;
        while (depth--) {
            const long half = (sizes[depth] + 1) / 2, pairs = sizes[depth] / 2;
            level -= sizes[depth];
            for (long i = 0; i < half; i++) outside[i] = to[i];
            for (long i = 0; i < pairs; i++) {
                to[i] = outside[i] * level[half + i];
                to[half + i] = outside[i] * level[i];
            }
        }
        for (long i = 0; i < n; i++) to[i] *= g[first];
    }
    free(tree);
    return 1;
}
