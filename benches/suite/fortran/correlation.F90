! How much each two of many rows of numbers have to do with each other, as correlation.c: milliseconds, and a checksum.
#ifndef N
#define N 2048
#endif
program main
  implicit none
  integer, parameter :: length = N, columns = length / 2, rounds = 3
  ! C's rows are columns here, and its columns rows.
  double precision, allocatable :: numbers(:, :), mean(:), deviation(:), scaled(:, :), related(:, :)
  double precision :: total
  integer(8) :: start, finish, rate
  integer :: i, j, one, round

  allocate(numbers(columns, length), mean(columns), deviation(columns), scaled(columns, length), related(columns, columns))
  do i = 0, length - 1
    do j = 0, columns - 1
      numbers(j + 1, i + 1) = mod(i * (mod(j, 19) + 1) + j, 23) + 0.5d0 * mod(i, mod(j, 5) + 2)
    end do
  end do
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copyin(numbers) copyout(related) create(mean, deviation, scaled)
  do round = 0, rounds
    if (round == 1) call system_clock(start)
    call correlate
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do one = 1, columns
    do i = one, columns
      total = total + related(i, one) * (1 + mod(one + i - 2, 3))
    end do
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'correlation', 1d3 * dble(finish - start) / dble(rate) / rounds, total

contains

  subroutine correlate
    double precision :: total, squares
    integer :: i, j, one, other
#if DIRECTED
    !$acc parallel loop gang vector private(total, squares)
#elif OUTER
    !$acc parallel loop private(total, squares)
#else
    !$acc kernels
#endif
    do j = 1, columns
      total = 0
      squares = 0
#if DIRECTED
      !$acc loop seq
#endif
      do i = 1, length
        total = total + numbers(j, i)
      end do
      mean(j) = total / length
#if DIRECTED
      !$acc loop seq
#endif
      do i = 1, length
        squares = squares + (numbers(j, i) - mean(j))**2
      end do
      deviation(j) = sqrt(squares)
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
    do i = 1, length
      do j = 1, columns
        scaled(j, i) = (numbers(j, i) - mean(j)) / deviation(j)
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
#if DIRECTED
    !$acc parallel loop gang vector_length(128)
#elif OUTER
    !$acc parallel loop private(total)
#else
    !$acc kernels
#endif
    do one = 1, columns
#if DIRECTED
      !$acc loop vector private(total)
#endif
      do other = one, columns
        total = 0
#if DIRECTED
        !$acc loop seq
#endif
        do i = 1, length
          total = total + scaled(one, i) * scaled(other, i)
        end do
        related(other, one) = total
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end subroutine correlate
end program main
