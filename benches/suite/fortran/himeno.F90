! Poisson's equation with 19 points and coefficients at each of them, as himeno.c: milliseconds a step, and a checksum.
#ifndef N
#define N 256
#endif
program main
  implicit none
  integer, parameter :: size = N, depth = size / 2, steps = 20
  ! C's indices in the other order.
  real, allocatable :: p(:, :, :), next(:, :, :), bound(:, :, :), source(:, :, :)
  real, allocatable :: a(:, :, :, :), b(:, :, :, :), c(:, :, :, :)
  real :: sum, differs
  double precision :: change, total
  integer(8) :: start, finish, rate
  integer :: i, j, k, step

  allocate(p(depth, size, size), next(depth, size, size), bound(depth, size, size), source(depth, size, size))
  allocate(a(depth, size, size, 4), b(depth, size, size, 3), c(depth, size, size, 3))
  a = 1
  a(:, :, :, 4) = 1.0 / 6.0
  b = 0.125
  c = 1
  bound = 1
  do i = 0, size - 1
    do j = 0, size - 1
      do k = 0, depth - 1
        source(k + 1, j + 1, i + 1) = 0.01 * mod(i + j + k, 4)
        p(k + 1, j + 1, i + 1) = real(i * i) / ((size - 1) * (size - 1))
      end do
    end do
  end do
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copy(p) copyin(a, b, c, bound, source) create(next)
  do step = 0, steps
    if (step == 1) call system_clock(start)
    change = 0
#if DIRECTED
    !$acc parallel loop gang vector collapse(3) reduction(+:change) private(sum, differs)
#elif OUTER
    !$acc parallel loop reduction(+:change) private(sum, differs)
#else
    !$acc kernels
#endif
    do i = 2, size - 1
      do j = 2, size - 1
        do k = 2, depth - 1
          sum = a(k, j, i, 1) * p(k, j, i + 1) + a(k, j, i, 2) * p(k, j + 1, i) + a(k, j, i, 3) * p(k + 1, j, i) &
                + b(k, j, i, 1) * (p(k, j + 1, i + 1) - p(k, j - 1, i + 1) - p(k, j + 1, i - 1) + p(k, j - 1, i - 1)) &
                + b(k, j, i, 2) * (p(k + 1, j + 1, i) - p(k + 1, j - 1, i) - p(k - 1, j + 1, i) + p(k - 1, j - 1, i)) &
                + b(k, j, i, 3) * (p(k + 1, j, i + 1) - p(k + 1, j, i - 1) - p(k - 1, j, i + 1) + p(k - 1, j, i - 1)) &
                + c(k, j, i, 1) * p(k, j, i - 1) + c(k, j, i, 2) * p(k, j - 1, i) + c(k, j, i, 3) * p(k - 1, j, i) &
                + source(k, j, i)
          differs = (sum * a(k, j, i, 4) - p(k, j, i)) * bound(k, j, i)
          change = change + differs * differs
          next(k, j, i) = p(k, j, i) + 0.8 * differs
        end do
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
#if DIRECTED
    !$acc parallel loop gang vector collapse(3)
#elif OUTER
    !$acc parallel loop
#else
    !$acc kernels
#endif
    do i = 2, size - 1
      do j = 2, size - 1
        do k = 2, depth - 1
          p(k, j, i) = next(k, j, i)
        end do
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do i = 1, size
    do j = 1, size
      do k = 1, depth
        total = total + p(k, j, i) * (1 + mod(k - 1, 3))
      end do
    end do
  end do
  if (change < 0) total = change
  print '(a,1x,f0.4,1x,es17.10)', 'himeno', 1d3 * dble(finish - start) / dble(rate) / steps, total
end program main
