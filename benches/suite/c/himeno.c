/* Poisson's equation with 19 points and coefficients at each of them, as Himeno's benchmark has it, in single precision:
 * milliseconds a step, and a checksum. */
#include "clock.h"

#ifndef N
#define N 256
#endif
#define DEPTH (N / 2)
#define STEPS 20

static float p[N][N][DEPTH], next[N][N][DEPTH], bound[N][N][DEPTH], source[N][N][DEPTH];
static float a[4][N][N][DEPTH], b[3][N][N][DEPTH], c[3][N][N][DEPTH];

/* The conditions are around whole functions: a directive that stands under one by itself gets no sums of teams. */
#if DIRECTED
static double relax(void)
{
    double change = 0.0;
#pragma acc parallel loop gang vector collapse(3) reduction(+:change)
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            for (int k = 1; k < DEPTH - 1; k++) {
                float sum = a[0][i][j][k] * p[i + 1][j][k] + a[1][i][j][k] * p[i][j + 1][k] +
                            a[2][i][j][k] * p[i][j][k + 1] +
                            b[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] - p[i - 1][j + 1][k] +
                                             p[i - 1][j - 1][k]) +
                            b[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] - p[i][j + 1][k - 1] +
                                             p[i][j - 1][k - 1]) +
                            b[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] - p[i + 1][j][k - 1] +
                                             p[i - 1][j][k - 1]) +
                            c[0][i][j][k] * p[i - 1][j][k] + c[1][i][j][k] * p[i][j - 1][k] +
                            c[2][i][j][k] * p[i][j][k - 1] + source[i][j][k];
                float differs = (sum * a[3][i][j][k] - p[i][j][k]) * bound[i][j][k];
                change += differs * differs;
                next[i][j][k] = p[i][j][k] + 0.8f * differs;
            }
    return change;
}
#elif OUTER
static double relax(void)
{
    double change = 0.0;
#pragma acc parallel loop reduction(+:change)
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            for (int k = 1; k < DEPTH - 1; k++) {
                float sum = a[0][i][j][k] * p[i + 1][j][k] + a[1][i][j][k] * p[i][j + 1][k] +
                            a[2][i][j][k] * p[i][j][k + 1] +
                            b[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] - p[i - 1][j + 1][k] +
                                             p[i - 1][j - 1][k]) +
                            b[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] - p[i][j + 1][k - 1] +
                                             p[i][j - 1][k - 1]) +
                            b[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] - p[i + 1][j][k - 1] +
                                             p[i - 1][j][k - 1]) +
                            c[0][i][j][k] * p[i - 1][j][k] + c[1][i][j][k] * p[i][j - 1][k] +
                            c[2][i][j][k] * p[i][j][k - 1] + source[i][j][k];
                float differs = (sum * a[3][i][j][k] - p[i][j][k]) * bound[i][j][k];
                change += differs * differs;
                next[i][j][k] = p[i][j][k] + 0.8f * differs;
            }
    return change;
}
#else
static double relax(void)
{
    double change = 0.0;
#pragma acc kernels
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            for (int k = 1; k < DEPTH - 1; k++) {
                float sum = a[0][i][j][k] * p[i + 1][j][k] + a[1][i][j][k] * p[i][j + 1][k] +
                            a[2][i][j][k] * p[i][j][k + 1] +
                            b[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] - p[i - 1][j + 1][k] +
                                             p[i - 1][j - 1][k]) +
                            b[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] - p[i][j + 1][k - 1] +
                                             p[i][j - 1][k - 1]) +
                            b[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] - p[i + 1][j][k - 1] +
                                             p[i - 1][j][k - 1]) +
                            c[0][i][j][k] * p[i - 1][j][k] + c[1][i][j][k] * p[i][j - 1][k] +
                            c[2][i][j][k] * p[i][j][k - 1] + source[i][j][k];
                float differs = (sum * a[3][i][j][k] - p[i][j][k]) * bound[i][j][k];
                change += differs * differs;
                next[i][j][k] = p[i][j][k] + 0.8f * differs;
            }
    return change;
}
#endif

static double step(void)
{
    double change = relax();
#if DIRECTED
#pragma acc parallel loop gang vector collapse(3)
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            for (int k = 1; k < DEPTH - 1; k++)
                p[i][j][k] = next[i][j][k];
    return change;
}

static void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < DEPTH; k++) {
                for (int q = 0; q < 3; q++) {
                    a[q][i][j][k] = 1.0f;
                    b[q][i][j][k] = 0.125f;
                    c[q][i][j][k] = 1.0f;
                }
                a[3][i][j][k] = 1.0f / 6.0f;
                bound[i][j][k] = 1.0f;
                source[i][j][k] = 0.01f * ((i + j + k) % 4);
                p[i][j][k] = (float)(i * i) / ((N - 1) * (N - 1));
            }
}

int main(void)
{
    double time = 0.0, sum = 0.0, change = 0.0;
    fill();
#pragma acc data copy(p) copyin(a, b, c, bound, source) create(next)
    {
        change = step();
        time = now();
        for (int t = 0; t < STEPS; t++)
            change = step();
        time = now() - time;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < DEPTH; k++)
                sum += p[i][j][k] * (1 + k % 3);
    report("himeno", time / STEPS, change < 0.0 ? change : sum);
    return 0;
}
