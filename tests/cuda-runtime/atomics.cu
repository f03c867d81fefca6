// Counts of iterations. Atomics: all operators, on all sizes of types, with values of other types; what they give back.
#include <cuda/std/complex>

#include "check.h"

using namespace acc2omp;
using TwoDoubles = cuda::std::complex<double>;

struct Places {
    char narrow[8];
    unsigned char bytes[5];
    short half;
    int whole;
    unsigned bits;
    long lasting;
    unsigned long long wide;
    float single;
    double twice;
    double product;
    int least, most, ticket, shifted, reversed;
    bool flag;
    unsigned long seen;  // the sum of what atomics gave back
    alignas(16) TwoDoubles complex;
};

static __global__ void update(Places *all)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    atomic_update<Plus>(&all->narrow[thread % 8], 1);
    atomic_update<Minus>(&all->bytes[thread % 5], static_cast<unsigned char>(1));
    atomic_update<Plus>(&all->half, static_cast<short>(-2));
    atomic_update<Minus>(&all->whole, 3);
    atomic_update<BitOr>(&all->bits, 1u << thread % 32);
    atomic_update<Plus>(&all->lasting, thread);
    atomic_update<BitXor>(&all->wide, 1ull << 40);
    atomic_update<Plus>(&all->single, 0.5f);
    atomic_update<Minus>(&all->twice, 0.25);
    if (thread % 64 == 0)
        atomic_update<Times>(&all->product, 2);
    atomic_update<Min>(&all->least, static_cast<int>(thread) - 10);
    atomic_update<Max>(&all->most, static_cast<int>(thread));
    atomic_update<Plus>(&all->seen, static_cast<unsigned long>(atomic_update<Plus>(&all->ticket, 1)));
    if (thread < 3)
        atomic_update<ShiftLeft>(&all->shifted, 2);
    atomic_update<ReverseMinus>(&all->reversed, 10);
    atomic_update<Or>(&all->flag, thread == 77);
    atomic_update<Plus>(&all->complex, TwoDoubles(1, -1));
}

static __global__ void move(int *from, int *to, double *twice, short *half, unsigned char *byte, TwoDoubles *complex, int *old)
{
    atomic_write(to, atomic_read(from));
    atomic_write(twice, 3);
    *old = atomic_exchange(from, 9) + atomic_exchange(half, static_cast<short>(7)) + atomic_exchange(byte, static_cast<unsigned char>(6));
    atomic_write(complex, TwoDoubles(2, 3));
    atomic_update<Divide>(twice, 2.0f);
    atomic_update<ReverseDivide>(twice, 3.0);
    atomic_update<BitAnd>(byte, static_cast<unsigned char>(4));
    *old += atomic_result<Plus>(to, 10) - 15;
}

static_assert(trips(0, 10) == 10 && trips(3, 10, 4) == 2 && trips(10, 3) == 0 && trips(5, 5) == 0 && trips(-5, 5u) == 0 && trips(-5, 5l) == 10);
static_assert(trips_to(1, 10) == 10 && trips_to(1, 10, 3) == 4 && trips_to(5, 4) == 0 && trips_to(5, 5) == 1);
static_assert(trips(0, -1) == 0 && trips(0ul, ~0ul) == ~0ull && trips_to(-9223372036854775807ll, 0ll) == 1ull << 63);

int main()
{
    static Places all;
    all.product = 1;
    all.shifted = 1;
    all.least = 100;
    constexpr int n = 256;
    {
        Region region("atomics.cu:1", acc_async_sync);
        launch(region, 4, 64, update, region.copy("all", &all, 1));
    }
    for (char one : all.narrow)
        CHECK(one == n / 8);
    for (int one = 0; one < 5; ++one)
        CHECK(all.bytes[one] == static_cast<unsigned char>(-(n / 5 + (one < n % 5 ? 1 : 0))));
    CHECK(all.half == -2 * n && all.whole == -3 * n && all.bits == 0xffffffffu);
    CHECK(all.lasting == static_cast<long>(n) * (n - 1) / 2 && all.wide == 0);
    CHECK(all.single == 0.5f * n && all.twice == -0.25 * n && all.product == 16);
    CHECK(all.least == -10 && all.most == n - 1 && all.ticket == n && all.shifted == 64 && all.reversed == 0);
    CHECK(all.flag && all.seen == static_cast<unsigned long>(n) * (n - 1) / 2);
    CHECK(all.complex == TwoDoubles(n, -n));

    static int from = 5, to, old;
    static double twice;
    static short half = 30;
    static unsigned char byte = 200;
    static TwoDoubles complex;
    {
        Region region("atomics.cu:2", acc_async_sync);
        launch(region, 1, 1, move, region.copy("from", &from, 1), region.copyout("to", &to, 1), region.copy("twice", &twice, 1),
               region.copy("half", &half, 1), region.copy("byte", &byte, 1), region.copyout("complex", &complex, 1),
               region.copyout("old", &old, 1));
    }
    CHECK(from == 9 && to == 15 && old == 5 + 30 + 200 && half == 7 && byte == 4 && twice == 2 && complex == TwoDoubles(2, 3));
    return finish();
}
