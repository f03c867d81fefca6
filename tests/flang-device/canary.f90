! Programs that are wrong, in OpenMP: what runs them must see it. A line `order` says something else where the iterations
! come in another order; a line `right` says 1; a line `wrong` must not say 1, as a map is missing.
program canary
  implicit none
  integer, parameter :: n = 3
  integer :: a(n), b(n), c(n, n), s, i, j

  a = 0
  !$omp target teams distribute parallel do map(tofrom: a)
  do i = 2, n
    a(i) = a(i - 1) + 1
  end do
  print '(a,i0)', 'order: a loop of teams and threads ', sum(a)

  a = 0
  !$omp target teams distribute map(tofrom: a)
  do i = 2, n
    a(i) = a(i - 1) + 1
  end do
  print '(a,i0)', 'order: a loop of teams ', sum(a)

  c = 0
  !$omp target teams distribute map(tofrom: c)
  do j = 1, n
    !$omp parallel do
    do i = 2, n
      c(i, j) = c(i - 1, j) + 1
    end do
  end do
  print '(a,i0)', 'order: a loop of threads ', sum(c)

  s = 0
  !$omp target teams distribute parallel do collapse(2) map(tofrom: s)
  do j = 1, n
    do i = 1, n
      s = 10 * j + i
    end do
  end do
  print '(a,i0)', 'order: two loops ', s

  a = 1
  b = 0
  !$omp target teams distribute parallel do map(to: a) map(from: b)
  do i = 1, n
    b(i) = a(i)
  end do
  print '(a,i0)', 'right: data comes and goes ', merge(1, 0, all(b == 1))

  !$omp target data map(to: a)
  a = 2
  b = 0
  !$omp target teams distribute parallel do map(to: a) map(from: b)
  do i = 1, n
    b(i) = a(i)
  end do
  print '(a,i0)', 'right: data stays ', merge(1, 0, all(b == 1))
  !$omp end target data

  a = 1
  b = 0
  !$omp target teams distribute parallel do map(alloc: a) map(from: b)
  do i = 1, n
    b(i) = a(i)
  end do
  print '(a,i0)', 'wrong: data does not come ', merge(1, 0, all(b == 1))

  b = 0
  !$omp target teams distribute parallel do map(to: a, b)
  do i = 1, n
    b(i) = a(i)
  end do
  print '(a,i0)', 'wrong: data does not go ', merge(1, 0, all(b == 1))

  s = 0
  !$omp target map(to: a)
  s = a(1)
  !$omp end target
  print '(a,i0)', 'wrong: a scalar does not go ', merge(1, 0, s == 1)
end program canary
