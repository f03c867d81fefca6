// Queues: order in one, waits between several, results that come with them, and the host's waits.
#include "check.h"

constexpr int n = 1 << 16;

static __global__ void slow_add(int *a, int count, int value)
{
    // Enough work that who does not wait is early.
    for (int round = 0; round < 64; ++round)
        for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
            a[i] += round == 63 ? value : 0;
}

static __global__ void sum(const int *a, int count, acc2omp::Result<long long> result)
{
    long long part = 0;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += static_cast<int>(gridDim.x * blockDim.x))
        part += a[i];
    acc2omp::combine<acc2omp::Plus>(result, acc2omp::block_reduce<acc2omp::Plus>(part));
}

static void start_sum(int queue, int *a, long long *total)
{
    acc2omp::Region region("queues.cu:1", queue);
    unsigned grid = acc2omp::blocks(n, 256);
    launch(region, grid, 256, sum, region.present("a", a, n), n, region.result("total", total, grid));
}

static void start_add(int queue, int *a, int value, int before = acc_async_sync)
{
    acc2omp::Region region("queues.cu:2", queue);
    if (before != acc_async_sync)
        region.wait(before);
    launch(region, 1, 64, slow_add, region.present("a", a, n), n, value);
}

int main()
{
    static int a[n], b[n];
    long long total = 1000, other = 0;

    // Data that enters on a queue, work behind it, a result that one launch hands to the next, and data that leaves.
    acc_copyin_async(a, sizeof a, 1);
    acc_create_async(b, sizeof b, 2);
    start_add(1, a, 3);
    start_sum(1, a, &total);
    start_sum(1, a, &total);
    acc_copyout_async(a, sizeof a, 1);
    CHECK(!acc_is_present(a, sizeof a));
    acc_wait(1);
    CHECK(acc_async_test(1) && total == 1000 + 2 * 3ll * n && a[0] == 3 && a[n - 1] == 3);

    // One queue waits for another: by the clause, by the routine, for all.
    acc2omp_begin("queues.cu:3", acc_async_sync);
    acc2omp_copy("a", a, sizeof a);
    start_add(5, a, 1);
    start_add(6, a, 1, 5);
    acc_wait_async(6, 7);
    start_add(7, a, 1);
    acc_wait_all_async(8);
    start_sum(8, a, &other);
    int queues[] = {8};
    CHECK(acc_wait_any(1, queues) == 0);
    acc_wait(8);
    CHECK(other == 6ll * n && acc_async_test_all());

    // What enters on a queue is there for the others, without a word.
    acc_delete(b, sizeof b);
    b[n - 1] = 41;
    {
        acc2omp::Region first("queues.cu:4", 9);
        launch(first, 1, 64, slow_add, first.copyin("b", b, n), n, 1);
        acc2omp::Region second("queues.cu:5", acc_async_sync);
        second.wait(9);
        launch(second, 1, 64, slow_add, second.copy("b", b, n), n, 1);
    }
    acc_wait_all();
    CHECK(b[n - 1] == 41);
    {
        acc2omp::Region first("queues.cu:6", 9);
        first.copy("b", b, n);
        acc2omp::Region second("queues.cu:7", 10);
        launch(second, 1, 64, slow_add, second.present("b", b, n), n, 1);
        acc_wait_async(10, 9);
    }
    acc_wait_all();
    CHECK(b[n - 1] == 42);

    // A launch on a queue that is default, and no queue at all.
    acc_set_default_async(12);
    CHECK(acc_get_default_async() == 12);
    start_add(acc_async_noval, a, 1);
    acc_wait(12);
    acc_set_default_async(acc_async_sync);
    start_add(acc_async_noval, a, 1);
    acc_set_default_async(acc_async_default);
    CHECK(acc_get_default_async() == 0);
    start_add(acc_async_noval, a, 1);
    acc_wait(acc_async_noval);
    acc_update_self_async(a, sizeof *a, 3);
    acc_wait(3);
    CHECK(a[0] == 9);
    acc2omp_end();
    CHECK(a[n - 1] == 9);

    // Streams to and from elsewhere.
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    CHECK(acc_set_cuda_stream(20, stream) && acc_get_cuda_stream(20) == stream);
    acc_copyin_async(a, sizeof a, 20);
    start_add(20, a, 1);
    acc_copyout_async(a, sizeof a, 20);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(a[0] == 10);
    acc_shutdown(acc_device_nvidia);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);

    // A structured region on a queue.
    acc2omp_begin("queues.cu:8", 2);
    acc2omp_copy("a", a, sizeof a);
    start_add(2, a, 1);
    acc2omp_end();
    acc_wait(2);
    CHECK(a[0] == 11);
    return finish();
}
