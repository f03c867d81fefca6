      module acc_oracle
      implicit none
      integer :: acc_loop = -1, acc_order = 0
      logical :: acc_is_read = .false.
      integer, allocatable :: acc_table(:)
! counters
      interface acc_poison
      module procedure acc_poison_integer, acc_poison_single
      module procedure acc_poison_double, acc_poison_logical
      end interface

      contains

      subroutine acc_read()
      character(16) :: word
      integer :: status
      if (acc_is_read) return
      acc_is_read = .true.
      call get_environment_variable('ORACLE_LOOP', word)
      read (word, *, iostat=status) acc_loop
      if (status /= 0) acc_loop = -1
      call get_environment_variable('ORACLE_ORDER', word)
      read (word, *, iostat=status) acc_order
      if (status /= 0) acc_order = 0
      end subroutine acc_read

      integer function acc_trips(loop, first, last, step) result(n)
      integer, intent(in) :: loop, first, last, step
      integer :: i, j
      integer, save :: state = 0
      call acc_read()
      acc_first(loop) = first
      acc_step(loop) = step
      n = max(0, (last - first + step) / step)
      if (loop /= acc_loop) return
      if (allocated(acc_table)) deallocate (acc_table)
      allocate (acc_table(n))
      state = state + acc_order
      do i = 1, n
      j = i
      if (acc_order > 1) then
      state = mod(state * 1103 + 12345, 65537)
      j = mod(state, i) + 1
      acc_table(i) = acc_table(j)
      end if
      acc_table(j) = i
      end do
      if (acc_order == 1) acc_table = acc_table(n:1:-1)
      end function acc_trips

      integer function acc_at(loop, k)
      integer, intent(in) :: loop, k
      integer :: trip
      trip = k
      if (loop == acc_loop) trip = acc_table(k)
      acc_at = acc_first(loop) + (trip - 1) * acc_step(loop)
      end function acc_at

      elemental subroutine acc_poison_integer(x)
      integer, intent(out) :: x
      x = 2139062143
      end subroutine acc_poison_integer

      elemental subroutine acc_poison_single(x)
      real, intent(out) :: x
      x = 3.39e38
      end subroutine acc_poison_single

      elemental subroutine acc_poison_double(x)
      double precision, intent(out) :: x
      x = 1.38d306
      end subroutine acc_poison_double

      elemental subroutine acc_poison_logical(x)
      logical, intent(out) :: x
      x = .true.
      end subroutine acc_poison_logical
      end module acc_oracle

