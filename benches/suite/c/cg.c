/* A system of equations with a sparse matrix by conjugate gradients: milliseconds for 25 steps, and a checksum. */
#include "clock.h"
#include "spmv.h"

#define STEPS 25
#define ROUNDS 3

/* The conditions are around whole functions: a directive that stands under one by itself gets no sums of teams. */
#if DIRECTED
static double dot(int rows, const double *restrict a, const double *restrict b)
{
    double sum = 0.0;
#pragma acc parallel loop gang vector reduction(+:sum) present(a[0:rows], b[0:rows])
    for (int i = 0; i < rows; i++)
        sum += a[i] * b[i];
    return sum;
}
#elif OUTER
static double dot(int rows, const double *restrict a, const double *restrict b)
{
    double sum = 0.0;
#pragma acc parallel loop reduction(+:sum) present(a[0:rows], b[0:rows])
    for (int i = 0; i < rows; i++)
        sum += a[i] * b[i];
    return sum;
}
#else
static double dot(int rows, const double *restrict a, const double *restrict b)
{
    double sum = 0.0;
#pragma acc kernels present(a[0:rows], b[0:rows])
    for (int i = 0; i < rows; i++)
        sum += a[i] * b[i];
    return sum;
}
#endif

/* to = a * to + b * from. */
static void add(int rows, double a, double *restrict to, double b, const double *restrict from)
{
#if DIRECTED
#pragma acc parallel loop gang vector present(to[0:rows], from[0:rows])
#elif OUTER
#pragma acc parallel loop present(to[0:rows], from[0:rows])
#else
#pragma acc kernels present(to[0:rows], from[0:rows])
#endif
    for (int i = 0; i < rows; i++)
        to[i] = a * to[i] + b * from[i];
}

static void multiply(int rows, int entries, const int *restrict row_start, const int *restrict column,
                     const double *restrict value, const double *restrict x, double *restrict y)
{
#if DIRECTED
#pragma acc parallel loop gang vector present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
#elif OUTER
#pragma acc parallel loop present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
#else
#pragma acc kernels present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
#endif
    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
#if DIRECTED
#pragma acc loop seq
#endif
        for (int k = row_start[row]; k < row_start[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

static void solve(struct matrix m, double *x, double *r, double *p, double *q)
{
    add(ROWS, 0.0, x, 0.0, m.x);
    add(ROWS, 0.0, r, 1.0, m.x);
    add(ROWS, 0.0, p, 1.0, m.x);
    double old = dot(ROWS, r, r);
    for (int t = 0; t < STEPS; t++) {
        multiply(ROWS, m.entries, m.row_start, m.column, m.value, p, q);
        double alpha = old / dot(ROWS, p, q);
        add(ROWS, 1.0, x, alpha, p);
        add(ROWS, 1.0, r, -alpha, q);
        double rest = dot(ROWS, r, r);
        add(ROWS, rest / old, p, 1.0, r);
        old = rest;
    }
}

int main(void)
{
    struct matrix m = make_matrix();
    int entries = m.entries;
    int *row_start = m.row_start, *column = m.column;
    double *value = m.value, *right = m.x, *x = m.y, time = 0.0;
    double *r = calloc(ROWS, sizeof(double)), *p = calloc(ROWS, sizeof(double)), *q = calloc(ROWS, sizeof(double));
    for (int i = 0; i < ROWS; i++)
        x[i] = 0.0;
#pragma acc data copyin(row_start[0:ROWS + 1], column[0:entries], value[0:entries], right[0:ROWS]) copy(x[0:ROWS]) \
    copyin(r[0:ROWS], p[0:ROWS], q[0:ROWS])
    {
        solve(m, x, r, p, q);
        time = now();
        for (int round = 0; round < ROUNDS; round++)
            solve(m, x, r, p, q);
        time = now() - time;
    }
    report("cg", time / ROUNDS, checksum(x));
    return 0;
}
