! A matrix times a vector, and its transpose times another, as mvt.c: milliseconds for both, and a checksum.
#ifndef N
#define N 8192
#endif
module fields
  implicit none
  integer, parameter :: size = N
  ! C's rows are columns here.
  double precision :: a(size, size), x(size), y(size), ax(size), aty(size)
contains
  subroutine both
    double precision :: total
    integer :: i, j
    ! The lanes share a column.
#if DIRECTED
    !$acc parallel loop gang vector_length(128) private(total)
#elif OUTER
    !$acc parallel loop private(total)
#else
    !$acc kernels
#endif
    do i = 1, size
      total = 0
#if DIRECTED
      !$acc loop vector reduction(+:total)
#endif
      do j = 1, size
        total = total + a(j, i) * x(j)
      end do
      ax(i) = total
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
    ! Each lane has a row.
#if DIRECTED
    !$acc parallel loop gang vector private(total)
#elif OUTER
    !$acc parallel loop private(total)
#else
    !$acc kernels
#endif
    do j = 1, size
      total = 0
#if DIRECTED
      !$acc loop seq
#endif
      do i = 1, size
        total = total + a(j, i) * y(i)
      end do
      aty(j) = total
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end subroutine both
end module fields

program main
  use fields
  implicit none
  integer, parameter :: rounds = 10
  double precision :: total
  integer(8) :: start, finish, rate
  integer :: i, j, round

  do i = 1, size
    x(i) = 1 + mod(i - 1, 5)
    y(i) = 2 - mod(i - 1, 3)
    do j = 1, size
      a(j, i) = mod(i - 1 + 3 * (j - 1), 17) - 8
    end do
  end do
  call system_clock(count_rate=rate)
  !$acc data copyin(a, x, y) copyout(ax, aty)
  call both
  call system_clock(start)
  do round = 1, rounds
    call both
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do i = 1, size
    total = total + ax(i) * (1 + mod(i - 1, 3)) + aty(i) * (1 + mod(i - 1, 7))
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'mvt', 1d3 * dble(finish - start) / dble(rate) / rounds, total
end program main
