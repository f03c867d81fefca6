! A sparse matrix times a vector, as spmv.c: milliseconds a product, and a checksum.
#ifndef N
#define N 128
#endif
program main
  implicit none
  integer, parameter :: rows = N * N * N, rounds = 20
  integer, allocatable :: row_start(:), column(:)
  double precision, allocatable :: value(:), x(:), y(:)
  integer(8) :: start, finish, rate
  integer :: round

  call make_matrix(N, row_start, column, value, x)
  allocate(y(rows))
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copyin(row_start, column, value, x) copyout(y)
  do round = 0, rounds
    if (round == 1) call system_clock(start)
    call product(row_start, column, value, x, y)
  end do
  call system_clock(finish)
  !$acc end data
  print '(a,1x,f0.4,1x,es17.10)', 'spmv', 1d3 * dble(finish - start) / dble(rate) / rounds, checksum(y)

contains

  include 'rows.inc'

  subroutine product(row_start, column, value, x, y)
    integer, intent(in) :: row_start(:), column(:)
    double precision, intent(in) :: value(:), x(:)
    double precision, intent(out) :: y(:)
    double precision :: total
    integer :: row, k
    ! Rows are short: a lane for each.
#if DIRECTED
    !$acc parallel loop gang vector private(total) present(row_start, column, value, x, y)
#elif OUTER
    !$acc parallel loop private(total) present(row_start, column, value, x, y)
#else
    !$acc kernels present(row_start, column, value, x, y)
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
  end subroutine product
end program main
