! Laplace's equation by Jacobi's method on a large square, untuned, as jacobi.c: milliseconds a step, and the residual.
program jacobi
  implicit none
  integer, parameter :: n = 4096, steps = 200
  double precision, allocatable :: a(:,:), next(:,:)
  double precision :: error
  integer(8) :: start, finish, rate
  integer :: i, j, step

  allocate(a(n, n), next(n, n))
  a = 0
  a(1, :) = 1
  next = a
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copy(a) create(next)
  do step = 0, steps
    if (step == 1) call system_clock(start)
    error = 0
    !$acc parallel loop reduction(max:error)
    do j = 2, n - 1
      !$acc loop reduction(max:error)
      do i = 2, n - 1
        next(i, j) = 0.25d0 * (a(i + 1, j) + a(i - 1, j) + a(i, j - 1) + a(i, j + 1))
        error = max(error, abs(next(i, j) - a(i, j)))
      end do
    end do
    !$acc parallel loop
    do j = 2, n - 1
      !$acc loop
      do i = 2, n - 1
        a(i, j) = next(i, j)
      end do
    end do
  end do
  call system_clock(finish)
  !$acc end data
  print '(a,1x,f0.4,1x,es17.10)', 'jacobi', 1d3 * dble(finish - start) / dble(rate) / steps, error
end program jacobi
