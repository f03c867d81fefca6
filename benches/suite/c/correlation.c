/* How much each two of many columns of numbers have to do with each other: milliseconds, and a checksum. */
#include <math.h>

#include "clock.h"

#ifndef N
#define N 2048
#endif
#define COLUMNS (N / 2)
#define ROUNDS 3

static double data[N][COLUMNS], mean[COLUMNS], deviation[COLUMNS], scaled[N][COLUMNS], related[COLUMNS][COLUMNS];

static void correlate(void)
{
#if DIRECTED
#pragma acc parallel loop gang vector
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int j = 0; j < COLUMNS; j++) {
        double sum = 0.0, squares = 0.0;
#if DIRECTED
#pragma acc loop seq
#endif
        for (int i = 0; i < N; i++)
            sum += data[i][j];
        mean[j] = sum / N;
#if DIRECTED
#pragma acc loop seq
#endif
        for (int i = 0; i < N; i++)
            squares += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        deviation[j] = sqrt(squares);
    }
#if DIRECTED
#pragma acc parallel loop gang vector collapse(2)
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int i = 0; i < N; i++)
        for (int j = 0; j < COLUMNS; j++)
            scaled[i][j] = (data[i][j] - mean[j]) / deviation[j];
#if DIRECTED
#pragma acc parallel loop gang vector_length(128)
#elif OUTER
#pragma acc parallel loop
#else
#pragma acc kernels
#endif
    for (int one = 0; one < COLUMNS; one++) {
#if DIRECTED
#pragma acc loop vector
#endif
        for (int other = one; other < COLUMNS; other++) {
            double sum = 0.0;
#if DIRECTED
#pragma acc loop seq
#endif
            for (int i = 0; i < N; i++)
                sum += scaled[i][one] * scaled[i][other];
            related[one][other] = sum;
        }
    }
}

int main(void)
{
    double time = 0.0, sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < COLUMNS; j++)
            data[i][j] = (i * (j % 19 + 1) + j) % 23 + 0.5 * (i % (j % 5 + 2));
#pragma acc data copyin(data) copyout(related) create(mean, deviation, scaled)
    {
        correlate();
        time = now();
        for (int round = 0; round < ROUNDS; round++)
            correlate();
        time = now() - time;
    }
    for (int one = 0; one < COLUMNS; one++)
        for (int other = one; other < COLUMNS; other++)
            sum += related[one][other] * (1 + (one + other) % 3);
    report("correlation", time / ROUNDS, sum);
    return 0;
}
