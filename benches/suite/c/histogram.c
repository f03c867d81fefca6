/*
 * The histogram of a picture, with atomics: milliseconds, and a checksum. The conditions stand around whole functions, as a
 * construct whose directive alone is under one gets no tables.
 */
#include "clock.h"

#ifndef N
#define N 8192
#endif
#define BINS 256
#define ROUNDS 10

static unsigned char data[N][N];
static unsigned bins[BINS];

#if DIRECTED
static void count(void)
{
#pragma acc parallel loop gang vector collapse(2)
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
#pragma acc atomic update
            bins[data[j][i]]++;
        }
}
#elif OUTER
static void count(void)
{
#pragma acc parallel loop
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
#pragma acc atomic update
            bins[data[j][i]]++;
        }
}
#else
static void count(void)
{
#pragma acc kernels
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
#pragma acc atomic update
            bins[data[j][i]]++;
        }
}
#endif

int main(void)
{
    double time = 0.0, sum = 0.0;
    unsigned state = 1;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            state = state * 1664525u + 1013904223u;
            data[j][i] = (unsigned char)(state >> 24);
        }
#pragma acc data copyin(data) copy(bins)
    {
        count();
        time = now();
        for (int round = 0; round < ROUNDS; round++)
            count();
        time = now() - time;
    }
    for (int bin = 0; bin < BINS; bin++)
        sum += (double)bins[bin] * (bin + 1);
    report("histogram", time / ROUNDS, sum);
    return 0;
}
