// Reductions: operators, types and shapes of blocks; within a worker, a block, over gangs; results that repeat.
#include <cuda/std/complex>

#include "check.h"

using namespace acc2omp;
using TwoDoubles = cuda::std::complex<double>;
using SmallComplex = cuda::std::complex<float>;

// The value of element i; small, so that no order of the operations changes a result.
template <class Op, class T>
__host__ __device__ T element(int i)
{
    if (std::is_same<Op, Times>::value)
        return static_cast<T>(i % 97 == 5 ? 2 : 1);
    if (std::is_same<Op, And>::value)
        return static_cast<T>(i == 11 ? 0 : 1);
    if (std::is_same<Op, Or>::value)
        return static_cast<T>(i == 12 ? 1 : 0);
    return static_cast<T>(i * 7 % 5 + (i == 13 ? 3 : 0));
}

template <class Op, class T>
T expected(T start, int first, int last, int step = 1)
{
    T all = Op::template identity<T>();
    for (int i = first; i < last; i += step)
        all = Op()(all, element<Op, T>(i));
    return Op()(start, all);
}

template <class Op, class T>
__global__ void over_gangs(int n, Result<T> result)
{
    T value = Op::template identity<T>();
    unsigned threads = blockDim.x * blockDim.y;
    unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = static_cast<int>(blockIdx.x * threads + thread); i < n; i += static_cast<int>(gridDim.x * threads))
        value = Op()(value, element<Op, T>(i));
    combine<Op>(result, block_reduce<Op>(value));
}

// Each worker reduces its lanes, the lanes of worker 1 not at all; then the workers.
template <class Op, class T>
__global__ void in_block(T *of_workers, T *of_all)
{
    T value = Op::template identity<T>();
    if (threadIdx.y != 1 || blockDim.x > 32) {
        value = vector_reduce<Op>(element<Op, T>(static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x)));
        vector_sync();
        of_workers[threadIdx.y * blockDim.x + threadIdx.x] = value;
        // What only the first lane knows.
        if (vector_broadcast(threadIdx.x == 0 ? value : T(0)) != value)
            of_workers[threadIdx.y * blockDim.x + threadIdx.x] = T(0);
    }
    value = worker_reduce<Op>(value);
    if (gang_broadcast(threadIdx.x + threadIdx.y == 0 ? value : T(0)) != value)
        value = T(0);
    of_all[threadIdx.y * blockDim.x + threadIdx.x] = value;
}

template <class Op, class T>
void check_one(dim3 block)
{
    int threads = static_cast<int>(block.x * block.y);
    for (int n : {0, 1, 1000, 9973}) {
        T start = static_cast<T>(1), value = start;
        {
            Region region("reductions.cu:1", acc_async_sync);
            dim3 grid = resident_blocks(static_cast<unsigned long long>(n), static_cast<unsigned>(threads));
            launch(region, grid, block, over_gangs<Op, T>, n, region.result("value", &value, grid));
        }
        CHECK(value == (expected<Op, T>(start, 0, n)));
    }
    static T of_workers[1024], of_all[1024];
    {
        Region region("reductions.cu:2", acc_async_sync);
        launch(region, 1, block, in_block<Op, T>, region.copyout("of_workers", of_workers, 1024),
               region.copyout("of_all", of_all, 1024));
    }
    int lanes = static_cast<int>(block.x);
    T all = Op::template identity<T>();
    for (int worker = 0; worker < static_cast<int>(block.y); ++worker) {
        if (worker == 1 && lanes <= 32)
            continue;
        T one = expected<Op, T>(Op::template identity<T>(), worker * lanes, (worker + 1) * lanes);
        for (int lane = 0; lane < lanes; ++lane)
            CHECK(of_workers[worker * lanes + lane] == one);
        all = Op()(all, one);
    }
    for (int thread = 0; thread < threads; ++thread)
        CHECK(of_all[thread] == all);
}

template <class Op, class T>
void check_shapes()
{
    for (dim3 block : {dim3(8, 16), dim3(32, 8), dim3(256, 1), dim3(1, 1), dim3(1, 24), dim3(16, 3), dim3(64, 1), dim3(4, 2)})
        check_one<Op, T>(block);
}

static __global__ void several(int n, Result<double> sum, Result<int> most, ResultArray<long> each)
{
    double value = 0;
    int largest = Max::identity<int>();
    long parts[3] = {0, 0, 0};
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x)) {
        value += 1.0 / (1 + i);
        largest = i > largest ? i : largest;
        parts[i % 3] += i;
    }
    combine<Plus>(sum, block_reduce<Plus>(value));
    combine<Max>(most, block_reduce<Max>(largest));
    for (int one = 0; one < 3; ++one)
        combine<Plus>(each[static_cast<size_t>(one)], block_reduce<Plus>(parts[one]));
}

static double several_on(int queue, bool is_present)
{
    constexpr int n = 30000;
    double sum = 0;
    int most = -5;
    long each[3] = {1, 2, 3};
    if (is_present) {
        acc_copyin(&sum, sizeof sum);
        acc_copyin(each, sizeof each);
    }
    {
        Region region("reductions.cu:3", queue);
        unsigned grid = blocks(n, 128);
        launch(region, grid, 128, several, n, region.result("sum", &sum, grid), region.result("most", &most, grid),
               region.result_array("each", each, 3, grid));
    }
    acc_wait_all();
    if (is_present) {
        CHECK(sum == 0 && each[1] == 2);
        acc_copyout(&sum, sizeof sum);
        acc_copyout(each, sizeof each);
    }
    CHECK(most == n - 1);
    for (long one = 0; one < 3; ++one) {
        long right = one + 1;
        for (long i = one; i < n; i += 3)
            right += i;
        CHECK(each[one] == right);
    }
    return sum;
}

int main()
{
    check_shapes<Plus, int>();
    check_one<Times, int>(dim3(8, 16));
    check_one<Min, int>(dim3(32, 8));
    check_one<Max, int>(dim3(64, 1));
    check_one<And, int>(dim3(32, 4));
    check_one<Or, int>(dim3(16, 3));
    check_one<BitAnd, unsigned>(dim3(8, 16));
    check_one<BitOr, long>(dim3(32, 8));
    check_one<BitXor, unsigned long long>(dim3(1, 24));
    check_one<Max, signed char>(dim3(8, 16));
    check_one<Plus, unsigned char>(dim3(32, 8));
    check_one<Min, short>(dim3(8, 16));
    check_one<And, bool>(dim3(8, 16));
    check_one<Times, float>(dim3(8, 16));
    check_one<Min, float>(dim3(8, 16));
    check_shapes<Plus, double>();
    check_one<Max, double>(dim3(32, 8));
    check_shapes<Plus, TwoDoubles>();
    check_one<Times, SmallComplex>(dim3(32, 8));

    double sum = several_on(acc_async_sync, false);
    for (int again = 0; again < 5; ++again)
        CHECK(several_on(again % 2 ? 4 : acc_async_sync, again > 2) == sum);
    return finish();
}
