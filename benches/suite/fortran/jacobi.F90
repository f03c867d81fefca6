! Laplace's equation by Jacobi's method on a large square, as jacobi.c: milliseconds a step, and the residual.
#ifndef N
#define N 4096
#endif
program main
  implicit none
  integer, parameter :: size = N, steps = 50
  double precision, allocatable :: a(:, :), next(:, :)
  double precision :: error
  integer(8) :: start, finish, rate
  integer :: i, j, step

  allocate(a(size, size), next(size, size))
  a = 0
  a(1, :) = 1
  next = a
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copy(a) create(next)
  do step = 0, steps
    if (step == 1) call system_clock(start)
    error = 0
#if DIRECTED
    !$acc parallel loop gang reduction(max:error)
#elif OUTER
    !$acc parallel loop reduction(max:error)
#else
    !$acc kernels
#endif
    do j = 2, size - 1
#if DIRECTED
      !$acc loop vector reduction(max:error)
#endif
      do i = 2, size - 1
        next(i, j) = 0.25d0 * (a(i + 1, j) + a(i - 1, j) + a(i, j - 1) + a(i, j + 1))
        error = max(error, abs(next(i, j) - a(i, j)))
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
#if DIRECTED
    !$acc parallel loop gang
#elif OUTER
    !$acc parallel loop
#else
    !$acc kernels
#endif
    do j = 2, size - 1
#if DIRECTED
      !$acc loop vector
#endif
      do i = 2, size - 1
        a(i, j) = next(i, j)
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end do
  call system_clock(finish)
  !$acc end data
  print '(a,1x,f0.4,1x,es17.10)', 'jacobi', 1d3 * dble(finish - start) / dble(rate) / steps, error
end program main
