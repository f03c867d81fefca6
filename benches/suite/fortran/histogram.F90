! The histogram of a picture, with atomics, as histogram.c: milliseconds, and a checksum.
#ifndef N
#define N 8192
#endif
program main
  implicit none
  integer, parameter :: size = N, rounds = 10
  integer(1), allocatable :: picture(:, :)
  integer :: bins(0:255)
  double precision :: total
  integer(8) :: start, finish, rate, state
  integer :: i, j, bin, round

  allocate(picture(size, size))
  state = 1
  do j = 1, size
    do i = 1, size
      state = iand(state * 1664525_8 + 1013904223_8, 4294967295_8)
      ! Numbers above 127 are negative in a byte.
      picture(i, j) = int(ishft(state, -24) - 128, 1)
    end do
  end do
  bins = 0
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copyin(picture) copy(bins)
  do round = 0, rounds
    if (round == 1) call system_clock(start)
#if DIRECTED
    !$acc parallel loop gang vector collapse(2)
#elif OUTER
    !$acc parallel loop
#else
    !$acc kernels
#endif
    do j = 1, size
      do i = 1, size
        !$acc atomic update
        bins(picture(i, j) + 128) = bins(picture(i, j) + 128) + 1
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do bin = 0, 255
    total = total + dble(bins(bin)) * (bin + 1)
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'histogram', 1d3 * dble(finish - start) / dble(rate) / rounds, total
end program main
