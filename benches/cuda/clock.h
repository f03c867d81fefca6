/* Milliseconds since some moment, for the benchmarks. */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

#endif
