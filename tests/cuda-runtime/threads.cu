// Threads of the host: data that they share, regions and queues of their own; and all devices that there are.
#include <thread>
#include <vector>

#include "check.h"

constexpr int n = 4096, rounds = 20, threads = 6;

static int shared_data[n];

static __global__ void sum(const int *a, int count, acc2omp::Result<long long> result)
{
    long long part = 0;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += static_cast<int>(gridDim.x * blockDim.x))
        part += a[i];
    acc2omp::combine<acc2omp::Plus>(result, acc2omp::block_reduce<acc2omp::Plus>(part));
}

static void work(int number)
{
    acc_set_device_num(number % acc_get_num_devices(acc_device_nvidia), acc_device_nvidia);
    std::vector<int> own(n, number);
    for (int round = 0; round < rounds; ++round) {
        int queue = round % 3 == 0 ? acc_async_sync : round % 3 == 1 ? number : 100;
        long long total = 0;
        {
            // Some threads find it present, some make it, some are the last to leave.
            acc2omp::Region region("threads.cu:1", queue);
            unsigned grid = acc2omp::blocks(n, 128);
            launch(region, grid, 128, sum, region.copyin("shared_data", shared_data, n), n, region.result("total", &total, grid));
        }
        if (queue != acc_async_sync)
            acc_wait(queue);
        CHECK(total == static_cast<long long>(n) * (n - 1) / 2);
        acc2omp_begin("threads.cu:2", acc_async_sync);
        acc2omp_copy("own", own.data(), n * sizeof(int));
        add_on("threads.cu:3", acc_async_sync, own.data(), n, 1);
        acc2omp_end();
        CHECK(own[0] == number + round + 1 && own[n - 1] == number + round + 1);
    }
}

int main()
{
    for (int i = 0; i < n; ++i)
        shared_data[i] = i;
    for (int again = 0; again < 2; ++again) {
        std::vector<std::thread> all;
        for (int one = 0; one < threads; ++one)
            all.emplace_back(work, one);
        for (std::thread &one : all)
            one.join();
    }
    CHECK(!acc_is_present(shared_data, sizeof shared_data));
    int devices = acc_get_num_devices(acc_device_nvidia);
    if (devices > 1) {
        int other[4] = {1, 2, 3, 4};
        for (int device = 0; device < 2; ++device) {
            acc_set_device_num(device, acc_device_nvidia);
            acc_copyin(other, sizeof other);
            add_on("threads.cu:4", acc_async_sync, other, 4, device);
        }
        acc_memcpy_d2d(other, other, sizeof other, 0, 1);
        acc_delete(other, sizeof other);
        acc_set_device_num(0, acc_device_nvidia);
        acc_copyout(other, sizeof other);
        CHECK(other[0] == 2 && other[3] == 5);
    }
    return finish();
}
