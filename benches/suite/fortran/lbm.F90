! A fluid on a square that is closed in itself, by the lattice Boltzmann method with nine speeds, as lbm.c: milliseconds a
! step, and a checksum.
#ifndef N
#define N 2048
#endif
program main
  implicit none
  integer, parameter :: size = N, steps = 10
  integer :: across(9) = [0, 1, 0, -1, 0, 1, -1, -1, 1], along(9) = [0, 0, 1, 0, -1, 1, 1, -1, -1]
  double precision :: weight(9)
  double precision, allocatable :: a(:, :, :), b(:, :, :)
  double precision :: total
  integer(8) :: start, finish, rate
  integer :: i, j, q, pair

  weight(1) = 4d0 / 9
  weight(2:5) = 1d0 / 9
  weight(6:9) = 1d0 / 36
  allocate(a(size, size, 9), b(size, size, 9))
  do q = 1, 9
    do j = 0, size - 1
      do i = 0, size - 1
        a(i + 1, j + 1, q) = weight(q) * (1 + 0.01d0 * mod(i + 2 * j, 16) + 0.02d0 * along(q) * mod(i, 8))
      end do
    end do
  end do
  start = 0
  call system_clock(count_rate=rate)
  !$acc data copy(a) create(b) copyin(across, along, weight)
  do pair = 0, steps / 2
    if (pair == 1) call system_clock(start)
    call step(size, across, along, weight, a, b)
    call step(size, across, along, weight, b, a)
  end do
  call system_clock(finish)
  !$acc end data
  total = 0
  do q = 1, 9
    do j = 1, size
      do i = 1, size
        total = total + a(i, j, q) * (1 + mod(q + j + i - 3, 3))
      end do
    end do
  end do
  print '(a,1x,f0.4,1x,es17.10)', 'lbm', 1d3 * dble(finish - start) / dble(rate) / steps, total

contains

  subroutine step(size, across, along, weight, from, to)
    integer, intent(in) :: size, across(9), along(9)
    double precision, intent(in) :: weight(9), from(size, size, 9)
    double precision, intent(out) :: to(size, size, 9)
    double precision :: f(9), density, u, v, c, rest
    integer :: i, j, q
#if DIRECTED
    !$acc parallel loop gang vector collapse(2) private(f, density, u, v) present(across, along, weight, from, to)
#elif OUTER
    !$acc parallel loop private(f, density, u, v, c, rest) present(across, along, weight, from, to)
#else
    !$acc kernels present(across, along, weight, from, to)
#endif
    do j = 1, size
      do i = 1, size
        density = 0
        u = 0
        v = 0
#if DIRECTED
        !$acc loop seq
#endif
        do q = 1, 9
          f(q) = from(1 + modulo(i - 1 - across(q), size), 1 + modulo(j - 1 - along(q), size), q)
          density = density + f(q)
          u = u + across(q) * f(q)
          v = v + along(q) * f(q)
        end do
        u = u / density
        v = v / density
#if DIRECTED
        !$acc loop seq private(c, rest)
#endif
        do q = 1, 9
          c = 3 * (across(q) * u + along(q) * v)
          rest = weight(q) * density * (1 + c + 0.5d0 * c * c - 1.5d0 * (u * u + v * v))
          to(i, j, q) = f(q) + 1.2d0 * (rest - f(q))
        end do
      end do
    end do
#if !DIRECTED && !OUTER
    !$acc end kernels
#endif
  end subroutine step
end program main
