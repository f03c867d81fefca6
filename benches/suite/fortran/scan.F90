! Many recurrences beside each other, each forth and back in order, as scan.c: milliseconds, and a checksum.
#ifndef N
#define N 65536
#endif
program main
  implicit none
  integer, parameter :: many = N, length = many / 128, rounds = 10
  double precision, allocatable :: from(:, :), to(:, :)
  double precision :: last, total
  integer(8) :: start, finish, rate
  integer :: i, k, round

  allocate(from(many, length), to(many, length))
  do k = 0, length - 1
    do i = 0, many - 1
      from(i + 1, k + 1) = mod(3 * k + i, 29) - 11
    end do
  end do
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copyin(from) copyout(to)
  do round = 0, rounds
    if (round == 1) call system_clock(start)
#if DIRECTED
    !$acc parallel loop gang vector private(last)
#elif OUTER
    !$acc parallel loop private(last)
#else
    !$acc kernels
#endif
    do i = 1, many
      last = 0
#if DIRECTED
      !$acc loop seq
#endif
      do k = 1, length
        last = 0.5d0 * last + from(i, k)
        to(i, k) = last
      end do
#if DIRECTED
      !$acc loop seq
#endif
      do k = length - 1, 1, -1
        to(i, k) = to(i, k) - 0.25d0 * to(i, k + 1)
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do k = 1, length
    do i = 1, many
      total = total + to(i, k) * (1 + mod(i - 1, 7))
    end do
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'scan', 1d3 * dble(finish - start) / dble(rate) / rounds, total
end program main
