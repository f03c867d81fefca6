! A wave in two dimensions, by finite differences in time, as fdtd.c: milliseconds a step, and a checksum.
#ifndef N
#define N 4096
#endif
program main
  implicit none
  integer, parameter :: size = N, steps = 20
  ! C's rows are columns here.
  double precision, allocatable :: ex(:, :), ey(:, :), hz(:, :)
  double precision :: total
  integer(8) :: start, finish, rate
  integer :: i, j, step

  allocate(ex(size, size), ey(size, size), hz(size, size))
  do i = 0, size - 1
    do j = 0, size - 1
      ex(j + 1, i + 1) = i * (j + 1d0) / size
      ey(j + 1, i + 1) = i * (j + 2d0) / size
      hz(j + 1, i + 1) = i * (j + 3d0) / size
    end do
  end do
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copyin(ex, ey) copy(hz)
  do step = 0, steps
    if (step == 1) call system_clock(start)
#if DIRECTED
    !$acc parallel loop gang vector
#elif OUTER
    !$acc parallel loop
#else
    !$acc kernels
#endif
    do j = 1, size
      ey(j, 1) = step
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
#if DIRECTED
    !$acc parallel loop gang vector collapse(2)
#elif OUTER
    !$acc parallel loop
#else
    !$acc kernels
#endif
    do i = 2, size
      do j = 1, size
        ey(j, i) = ey(j, i) - 0.5d0 * (hz(j, i) - hz(j, i - 1))
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
#if DIRECTED
    !$acc parallel loop gang vector collapse(2)
#elif OUTER
    !$acc parallel loop
#else
    !$acc kernels
#endif
    do i = 1, size
      do j = 2, size
        ex(j, i) = ex(j, i) - 0.5d0 * (hz(j, i) - hz(j - 1, i))
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
#if DIRECTED
    !$acc parallel loop gang vector collapse(2)
#elif OUTER
    !$acc parallel loop
#else
    !$acc kernels
#endif
    do i = 1, size - 1
      do j = 1, size - 1
        hz(j, i) = hz(j, i) - 0.7d0 * (ex(j + 1, i) - ex(j, i) + ey(j, i + 1) - ey(j, i))
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
      total = total + hz(j, i) * (1 + mod(i + j - 2, 3))
    end do
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'fdtd', 1d3 * dble(finish - start) / dble(rate) / steps, total
end program main
