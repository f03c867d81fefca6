! A system of equations with a sparse matrix by conjugate gradients, as cg.c: milliseconds for 25 steps, and a checksum.
#ifndef N
#define N 128
#endif
program main
  implicit none
  integer, parameter :: rows = N * N * N, steps = 25, rounds = 3
  integer, allocatable :: row_start(:), column(:)
  double precision, allocatable :: value(:), right(:), x(:), r(:), p(:), q(:)
  integer(8) :: start, finish, rate
  integer :: round

  call make_matrix(N, row_start, column, value, right)
  allocate(x(rows), r(rows), p(rows), q(rows))
  x = 0
  r = 0
  p = 0
  q = 0
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copyin(row_start, column, value, right, r, p, q) copy(x)
  do round = 0, rounds
    if (round == 1) call system_clock(start)
    call solve
  end do
  call system_clock(finish)
  !$acc end data
  print '(a,1x,f0.4,1x,es17.10)', 'cg', 1d3 * dble(finish - start) / dble(rate) / rounds, checksum(x)

contains

  include 'rows.inc'

  subroutine solve
    double precision :: alpha, old, rest
    integer :: t

    call add(0d0, x, 0d0, right)
    call add(0d0, r, 1d0, right)
    call add(0d0, p, 1d0, right)
    old = dot(r, r)
    do t = 1, steps
      call multiply(p, q)
      alpha = old / dot(p, q)
      call add(1d0, x, alpha, p)
      call add(1d0, r, -alpha, q)
      rest = dot(r, r)
      call add(rest / old, p, 1d0, r)
      old = rest
    end do
  end subroutine solve

  double precision function dot(a, b)
    double precision, intent(in) :: a(:), b(:)
    double precision :: total
    integer :: i

    total = 0
#if DIRECTED
    !$acc parallel loop gang vector reduction(+:total) present(a, b)
#elif OUTER
    !$acc parallel loop reduction(+:total) present(a, b)
#else
    !$acc kernels present(a, b)
#endif
    do i = 1, rows
      total = total + a(i) * b(i)
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
    dot = total
  end function dot

  ! to = a * to + b * from.
  subroutine add(a, to, b, from)
    double precision, intent(in) :: a, b, from(:)
    double precision, intent(inout) :: to(:)
    integer :: i
#if DIRECTED
    !$acc parallel loop gang vector present(to, from)
#elif OUTER
    !$acc parallel loop present(to, from)
#else
    !$acc kernels present(to, from)
#endif
    do i = 1, rows
      to(i) = a * to(i) + b * from(i)
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end subroutine add

  subroutine multiply(x, y)
    double precision, intent(in) :: x(:)
    double precision, intent(inout) :: y(:)
    double precision :: total
    integer :: row, k
#if DIRECTED
    !$acc parallel loop gang vector private(total) present(x, y)
#elif OUTER
    !$acc parallel loop private(total) present(x, y)
#else
    !$acc kernels present(x, y)
#endif
    do row = 1, rows
      total = 0
#if DIRECTED
      !$acc loop seq
#endif
      do k = row_start(row), row_start(row + 1) - 1
        total = total + value(k) * x(column(k))
      end do
      y(row) = total
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end subroutine multiply
end program main
