/* Cumulative sums and products in NumPy's order: of several rows at once, as each result waits for the one before.

   BYTES, 4 for float or 8 for double, is defined before this text. Arrays have the shape (rows, n, inner); `step` is -1 if
   `x` is read from its end, else 1. A function computes a range of rows, so that threads can share them. */
#if BYTES == 4
typedef float real;
#else
typedef double real;
#endif
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
