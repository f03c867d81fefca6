/*
 * The same kernels in several forms of OpenMP, by hand: which form a compiler makes fast, and where none is. Prints milliseconds.
 *   clang -O3 -fopenmp --offload-arch=native forms.c -o forms -mcmodel=medium -lm && ./forms
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, M = 8192, L = 65536, ROUNDS = 10 };

static double a[N][N], b[N][N], c[M][M], x[M], y[M], (*from)[L], (*to)[L];
static unsigned char *picture;
static int bins[256];

#define TIME(name, code)                                                       \
    do {                                                                       \
        code;                                                                  \
        double start = omp_get_wtime();                                        \
        for (int round = 0; round < ROUNDS; round++)                           \
            code;                                                              \
        printf("%-40s %8.4f\n", name,                                          \
               1e3 * (omp_get_wtime() - start) / ROUNDS);                      \
    } while (0)

/* A step of Jacobi's method with the largest change, and the copy back. */
#define JACOBI(name, outer, inner)                                             \
    static void name(void)                                                     \
    {                                                                          \
        double most = 0;                                                       \
        _Pragma(outer) for (int i = 1; i < N - 1; i++)                         \
            inner for (int j = 1; j < N - 1; j++)                              \
        {                                                                      \
            b[i][j] = 0.25 * (a[i][j + 1] + a[i][j - 1] + a[i - 1][j] +        \
                              a[i + 1][j]);                                    \
            most = fmax(most, fabs(b[i][j] - a[i][j]));                        \
        }                                                                      \
    }
#define COPY(name, outer, inner)                                               \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int i = 1; i < N - 1; i++)                         \
            inner for (int j = 1; j < N - 1; j++) a[i][j] = b[i][j];           \
    }
JACOBI(jacobi_flat, "omp target teams distribute parallel for collapse(2) reduction(max:most) map(tofrom:most)", )
JACOBI(jacobi_split, "omp target teams distribute reduction(max:most) map(tofrom:most)",
       _Pragma("omp parallel for reduction(max:most)"))
COPY(copy_flat, "omp target teams distribute parallel for collapse(2)", )
COPY(copy_split, "omp target teams distribute", _Pragma("omp parallel for"))

/* A matrix times a vector: sums of rows. */
#define ROWS(name, outer, inner)                                               \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int i = 0; i < M; i++)                             \
        {                                                                      \
            double sum = 0;                                                    \
            inner for (int j = 0; j < M; j++) sum += c[i][j] * x[j];           \
            y[i] = sum;                                                        \
        }                                                                      \
    }
ROWS(rows_split, "omp target teams distribute", _Pragma("omp parallel for reduction(+:sum)"))
ROWS(rows_narrow, "omp target teams distribute thread_limit(32)", _Pragma("omp parallel for reduction(+:sum)"))
ROWS(rows_256, "omp target teams distribute thread_limit(256)", _Pragma("omp parallel for reduction(+:sum)"))
ROWS(rows_combined, "omp target teams distribute parallel for", )
ROWS(rows_loop, "omp target teams loop", _Pragma("omp loop reduction(+:sum)"))

/* Its transpose times a vector: sums of columns, one a thread. */
#define COLUMNS(name, outer)                                                   \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int j = 0; j < M; j++)                             \
        {                                                                      \
            double sum = 0;                                                    \
            for (int i = 0; i < M; i++)                                        \
                sum += c[i][j] * x[i];                                         \
            y[j] = sum;                                                        \
        }                                                                      \
    }
COLUMNS(columns, "omp target teams distribute parallel for")
COLUMNS(columns_small, "omp target teams distribute parallel for num_teams(128) thread_limit(64)")

/* Many recurrences. */
#define SCAN(name, outer)                                                      \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int i = 0; i < L; i++)                             \
        {                                                                      \
            double last = 0;                                                   \
            for (int k = 0; k < 512; k++)                                      \
                to[k][i] = last = 0.5 * last + from[k][i];                     \
        }                                                                      \
    }
SCAN(scan, "omp target teams distribute parallel for")
SCAN(scan_small, "omp target teams distribute parallel for num_teams(512) thread_limit(128)")

/* The sum of all, and the histogram. */
#define SUM(name, outer)                                                       \
    static void name(void)                                                     \
    {                                                                          \
        double sum = 0;                                                        \
        _Pragma(outer) for (long i = 0; i < (long)M * M; i++) sum +=           \
            ((double *)c)[i];                                                  \
    }
SUM(sum, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum)")
SUM(sum_teams, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(528) thread_limit(256)")

/* The sum of products of 160^3 numbers, as a step of conjugate gradients needs two of. */
#define DOT(name, outer)                                                       \
    static void name(void)                                                     \
    {                                                                          \
        double sum = 0;                                                        \
        _Pragma(outer) for (int i = 0; i < 160 * 160 * 160; i++) sum +=        \
            ((double *)a)[i] * ((double *)b)[i];                               \
    }
DOT(dot, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum)")
DOT(dot_small, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(512) thread_limit(256)")
DOT(dot_large, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(256) thread_limit(512)")
DOT(dot_wide, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(1024) thread_limit(256)")

static void histogram(void)
{
#pragma omp target teams distribute parallel for
    for (long i = 0; i < (long)M * M; i++) {
#pragma omp atomic
        bins[picture[i]]++;
    }
}

/* Each team counts in a table of its own first. */
static void histogram_of_teams(void)
{
#pragma omp target teams num_teams(528) thread_limit(256)
    {
        int own[256];
#pragma omp parallel for
        for (int i = 0; i < 256; i++)
            own[i] = 0;
#pragma omp distribute parallel for
        for (long i = 0; i < (long)M * M; i++) {
#pragma omp atomic
            own[picture[i]]++;
        }
#pragma omp parallel for
        for (int i = 0; i < 256; i++) {
#pragma omp atomic
            bins[i] += own[i];
        }
    }
}

int main(void)
{
    from = calloc(512, sizeof *from);
    to = calloc(512, sizeof *to);
    picture = malloc((long)M * M);
    for (long i = 0; i < (long)M * M; i++)
        picture[i] = (unsigned char)(i * 2654435761u >> 13);
#pragma omp target data map(to : a, b, c, x, y, bins, from[0 : 512], to[0 : 512], picture[0 : (long)M * M])
    {
        TIME("Jacobi, flat", jacobi_flat());
        TIME("Jacobi, split", jacobi_split());
        TIME("copy, flat", copy_flat());
        TIME("copy, split", copy_split());
        TIME("sums of rows, split", rows_split());
        TIME("sums of rows, split, 32 threads", rows_narrow());
        TIME("sums of rows, split, 256 threads", rows_256());
        TIME("sums of rows, a thread each", rows_combined());
        TIME("sums of rows, loop", rows_loop());
        TIME("sums of columns", columns());
        TIME("sums of columns, 64 threads in a team", columns_small());
        TIME("recurrences", scan());
        TIME("recurrences, 128 threads in a team", scan_small());
        TIME("sum", sum());
        TIME("sum, 528 teams", sum_teams());
        TIME("sum of products", dot());
        TIME("sum of products, 512 teams of 256", dot_small());
        TIME("sum of products, 256 teams of 512", dot_large());
        TIME("sum of products, 1024 teams of 256", dot_wide());
        TIME("histogram", histogram());
        TIME("histogram, a table in each team", histogram_of_teams());
    }
    return 0;
}
