! A stencil of 7 points on a cube, as stencil.c: milliseconds a step, and a checksum.
#ifndef N
#define N 384
#endif
program main
  implicit none
  integer, parameter :: size = N, steps = 20
  double precision, allocatable :: a(:, :, :), b(:, :, :)
  double precision :: total
  integer(8) :: start, finish, rate
  integer :: i, j, k, pair

  allocate(a(size, size, size), b(size, size, size))
  do k = 0, size - 1
    do j = 0, size - 1
      do i = 0, size - 1
        a(i + 1, j + 1, k + 1) = mod((k * size + j) * size + i, 7)
        b(i + 1, j + 1, k + 1) = a(i + 1, j + 1, k + 1)
      end do
    end do
  end do
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copy(a) copyin(b)
  do pair = 0, steps / 2
    if (pair == 1) call system_clock(start)
    call step(size, a, b)
    call step(size, b, a)
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do k = 1, size
    do j = 1, size
      do i = 1, size
        total = total + a(i, j, k) * (1 + mod(i + j + k - 3, 5))
      end do
    end do
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'stencil', 1d3 * dble(finish - start) / dble(rate) / steps, total

contains

  subroutine step(size, a, b)
    integer, intent(in) :: size
    double precision, intent(in) :: a(size, size, size)
    double precision, intent(inout) :: b(size, size, size)
    integer :: i, j, k
#if DIRECTED
    !$acc parallel loop gang vector collapse(3) present(a, b)
#elif OUTER
    !$acc parallel loop present(a, b)
#else
    !$acc kernels present(a, b)
#endif
    do k = 2, size - 1
      do j = 2, size - 1
        do i = 2, size - 1
          b(i, j, k) = 0.4d0 * a(i, j, k) + 0.1d0 * (a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + a(i, j + 1, k) &
                       + a(i, j, k - 1) + a(i, j, k + 1))
        end do
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end subroutine step
end program main
