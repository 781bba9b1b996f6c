/* The error function, the normal distribution function, and products with them, of single precision, to 5 units in the last
   place, also in the tails. SciPy computes them element by element in double precision, in five to ten times the time.

   For t >= 0, erfc(t) = exp(-t**2) P((t - 1) / (t + 1)) / (t + 1), and erf(t) = t Q(t**2) for small t. The polynomials were
   fitted to values in double precision. Beyond a limit results are rounded to 0; NaN is handed on. */
#define EACH(NAME, VALUE) \
    int NAME(const float *restrict x, float *restrict y, long first, long last) \
    { \
        for (long i = first; i < last; i++) { \
            const float v = x[i], found = VALUE; \
            y[i] = either(v == v, found, v); \
        } \
        return 1; \
    }
#define LIMIT 10.5f     /* exp(-LIMIT**2) is below the least number */
#define ROOT_2 1.41421356f
#define DENSITY 0.39894228f

typedef union { float value; int bits; } number;

static inline float power_of_2(int n)
{
    number y;
    y.bits = (n + 127) << 23;
    return y.value;
}

/* a if `condition` else b, by bits: branches would keep loops from being computed by vectors */
static inline float either(int condition, float a, float b)
{
    number x, y;
    x.value = a;
    y.value = b;
    x.bits = (x.bits & -condition) | (y.bits & ~-condition);
    return x.value;
}

/* the size of x, at most `most` */
static inline float size(float x, float most)
{
    number y;
    y.value = x;
    y.bits &= 0x7fffffff;
    return either(y.value < most, y.value, most);
}

/* exp(-share * a * a) for a >= 0: a * a is the exact square of the leading bits of a, and a small rest */
static inline float gauss(float a, float share)
{
    number lead;
    lead.value = a;
    lead.bits &= ~0xfff;
    const float square = share * (lead.value * lead.value), rest = share * ((a - lead.value) * (a + lead.value));
    const int n = (int)((square + rest) * -1.44269504f - 0.5f);
    const float r = (-square - n * 0.693359375f) - (n * -2.12194440e-4f + rest);
    const float p = 0.49999994f + r * (0.16666515f + r * (0.041668456f + r * (0.0083694188f + r * 0.0013813145f)));
    return (1 + (r + r * r * p)) * power_of_2(n / 2) * power_of_2(n - n / 2);
}

/* erfc(t) / exp(-t * t), for t from 0 to LIMIT */
static inline float scaled(float t)
{
    const float d = 1 / (1 + t), q = (t - 1) * d;
    float p = 0.000331196148f;
    p = p * q + 0.000759062765f;
    p = p * q - 0.000182999473f;
    p = p * q - 0.00248697633f;
    p = p * q - 0.0038784577f;
    p = p * q - 0.00117534876f;
    p = p * q + 0.00960439909f;
    p = p * q + 0.0253874846f;
    p = p * q + 0.0139020719f;
    p = p * q - 0.0955558643f;
    p = p * q - 0.237680689f;
    p = p * q + 0.85516715f;
    return p * d;
}

/* erf(x) for abs(x) <= 1 */
static inline float near(float x)
{
    const float s = x * x;
    float q = 7.8538607e-05f;
    q = q * s - 0.00080101937f;
    q = q * s + 0.0051883277f;
    q = q * s - 0.026853813f;
    q = q * s + 0.11283585f;
    q = q * s - 0.37612626f;
    q = q * s + 1.1283791f;
    return x * q;
}

static inline float erf_of(float x)
{
    const float t = size(x, LIMIT), far = 1 - gauss(t, 1) * scaled(t);
    return either(t < 0.9f, near(x), either(x < 0, -far, far));
}

static inline float erfc_of(float x)
{
    const float t = size(x, LIMIT), tail = gauss(t, 1) * scaled(t);
    return either(t < 0.5f, 1 - near(x), either(x < 0, 2 - tail, tail));
}

/* exp(-x * x / 2) */
static inline float bell_of(float x) { return gauss(size(x, LIMIT * ROOT_2), 0.5f); }

/* the distribution function, given `bell_of(x)` */
static inline float below(float x, float bell)
{
    const float t = size(x, LIMIT * ROOT_2) * (1 / ROOT_2), tail = 0.5f * bell * scaled(t);
    return either(t < 0.5f, 0.5f + 0.5f * near(x * (1 / ROOT_2)), either(x < 0, tail, 1 - tail));
}

static inline float slope_of(float x)
{
    const float bell = bell_of(x);
    return below(x, bell) + x * (DENSITY * bell);
}

EACH(error_function, erf_of(v))
EACH(complementary, erfc_of(v))
EACH(ndtr, below(v, bell_of(v)))
EACH(normal_weighted, v * below(v, bell_of(v)))
EACH(normal_weighted_slope, slope_of(v))
