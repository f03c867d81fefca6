/* A fluid on a square that is closed in itself, by the lattice Boltzmann method with nine speeds: milliseconds a step,
 * and a checksum. */
#include <stdlib.h>

#include "clock.h"

#ifndef N
#define N 2048
#endif
#define STEPS 10

static const int across[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int along[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

static void step(double (*restrict from)[N][N], double (*restrict to)[N][N])
{
#if DIRECTED
#pragma acc parallel loop gang vector collapse(2) present(from[0:9], to[0:9])
#elif OUTER
#pragma acc parallel loop present(from[0:9], to[0:9])
#else
#pragma acc kernels present(from[0:9], to[0:9])
#endif
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double f[9], density = 0.0, u = 0.0, v = 0.0;
#if DIRECTED
#pragma acc loop seq
#endif
            for (int q = 0; q < 9; q++) {
                f[q] = from[q][(j - along[q] + N) % N][(i - across[q] + N) % N];
                density += f[q];
                u += across[q] * f[q];
                v += along[q] * f[q];
            }
            u /= density;
            v /= density;
#if DIRECTED
#pragma acc loop seq
#endif
            for (int q = 0; q < 9; q++) {
                double c = 3.0 * (across[q] * u + along[q] * v);
                double rest = weight[q] * density * (1.0 + c + 0.5 * c * c - 1.5 * (u * u + v * v));
                to[q][j][i] = f[q] + 1.2 * (rest - f[q]);
            }
        }
}

int main(void)
{
    double(*a)[N][N] = malloc(sizeof(double[9][N][N]));
    double(*b)[N][N] = malloc(sizeof(double[9][N][N]));
    double time = 0.0, sum = 0.0;
    for (int q = 0; q < 9; q++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                a[q][j][i] = weight[q] * (1.0 + 0.01 * ((i + 2 * j) % 16) + 0.02 * along[q] * (i % 8));
#pragma acc data copy(a[0:9]) create(b[0:9]) copyin(across, along, weight)
    {
        step(a, b);
        step(b, a);
        time = now();
        for (int pair = 0; pair < STEPS / 2; pair++) {
            step(a, b);
            step(b, a);
        }
        time = now() - time;
    }
    for (int q = 0; q < 9; q++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                sum += a[q][j][i] * (1 + (q + j + i) % 3);
    report("lbm", time / STEPS, sum);
    free(a);
    free(b);
    return 0;
}
