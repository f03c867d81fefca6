! A product of matrices, as matmul.c: milliseconds, and a checksum.
#ifndef N
#define N 2048
#endif
program main
  implicit none
  integer, parameter :: size = N, rounds = 3
  double precision, allocatable :: a(:, :), b(:, :), c(:, :)
  double precision :: total
  integer(8) :: start, finish, rate
  integer :: i, j, round

  allocate(a(size, size), b(size, size), c(size, size))
  do j = 1, size
    do i = 1, size
      a(i, j) = mod((j - 1) * size + i - 1, 11) - 5
      b(i, j) = mod((j - 1) * size + i - 1, 13) - 6
    end do
  end do
  call system_clock(count_rate=rate)
  !$acc data copyin(a, b) copyout(c)
  call multiply(size, a, b, c)
  call system_clock(start)
  do round = 1, rounds
    call multiply(size, a, b, c)
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do j = 1, size
    do i = 1, size
      total = total + c(i, j) * (1 + mod((j - 1) * size + i - 1, 3))
    end do
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'matmul', 1d3 * dble(finish - start) / dble(rate) / rounds, total

contains

  ! C's rows are columns here: c = b a.
  subroutine multiply(size, a, b, c)
    integer, intent(in) :: size
    double precision, intent(in) :: a(size, size), b(size, size)
    double precision, intent(out) :: c(size, size)
    double precision :: total
    integer :: i, j, k
#if DIRECTED
    !$acc parallel loop gang vector collapse(2) private(total) present(a, b, c)
#elif OUTER
    !$acc parallel loop private(total) present(a, b, c)
#else
    !$acc kernels present(a, b, c)
#endif
    do j = 1, size
      do i = 1, size
        total = 0
#if DIRECTED
        !$acc loop seq
#endif
        do k = 1, size
          total = total + a(k, j) * b(i, k)
        end do
        c(i, j) = total
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end subroutine multiply
end program main
