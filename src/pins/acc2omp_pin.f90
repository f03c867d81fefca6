! acc2omp_pin.f90: records what OpenACC constructs find on the device
! and what they leave there; acc2omp_pin.h is the same for C and C++.
!
! `acc2omp verify --pins` and `--bisect` put it, with names of its own,
! before the first line of each source of Fortran that they instrument.
! It is OpenACC itself, and is translated with the source. What it
! records goes to the folder in ACC2OMP_PIN; without that, nothing is
! recorded.
!
! It can be read in free form and in fixed form: statements begin in
! column 7 and end before column 73, and none goes on in a second line.
!
! This file is dedicated to the public domain (CC0 1.0).
      module acc2omp_pin_source
      use, intrinsic :: iso_c_binding
      use, intrinsic :: ieee_exceptions
      implicit none
      private
      public :: acc2omp_pin_begin
      public :: acc2omp_pin_variable
      public :: acc2omp_pin_row
      public :: acc2omp_pin_variable_end
      public :: acc2omp_pin_end
      public :: acc2omp_pin_on_device

      integer, parameter, public :: acc2omp_pin_k = c_long_long
      integer, parameter :: k = acc2omp_pin_k
      integer, parameter :: b = c_signed_char

! The source, and a name for its files.
      character(*), parameter :: own = 'acc2omp_pin_source'
      character(*), parameter :: source = 'acc2omp_pin_path'

! Where a variable is looked for: on the device, or on the host if it
! is not there; on the device only; on the device, where it must be; on
! the host only; on the host, if it is not on a device that has its own
! memory; on the device, where it must be, although nothing is known of
! what it holds.
      integer, parameter :: compute = 0
      integer, parameter :: device = 1
      integer, parameter :: placed = 2
      integer, parameter :: host = 3
      integer, parameter :: absent = 4
      integer, parameter :: made = 5

      integer(k), parameter :: samples = 8
! Elements so many bytes apart are read at once.
      integer(k), parameter :: near = 4096
      character, parameter :: tab = achar(9)

! The bytes of a variable when its construct begins.
      type kept_t
      character(:), allocatable :: name
      integer(b), allocatable :: bytes(:)
      integer(k) :: length = 0
      end type

! What the user asks for.
      logical, save :: is_read = .false.
      logical, save :: is_recording = .false.
      integer(k), save :: every = 1
      integer(k), save :: first_ones = 0
      integer(k), save :: last = -1
      character(:), allocatable, save :: folder
      character(:), allocatable, save :: only
      character(:), allocatable, save :: saved_ones
      character(:), allocatable, save :: rank

! How often each site has run.
      integer(k), allocatable, save :: sites(:)
      integer(k), allocatable, save :: counts_of(:)

! What is being recorded.
      type(c_ptr), save :: out = c_null_ptr
      type(kept_t), allocatable, save :: kept(:)
      integer, save :: kept_count = 0
      logical, save :: is_entry = .false.
      logical, save :: is_saved = .false.
      integer(k), save :: saved = 0

! The variable, its elements so far, and a piece that is still to come.
      character(:), allocatable, save :: name_of
      character, save :: kind_of = '?'
      integer(k), save :: element = 1
      integer, save :: place = 0
      integer(b), allocatable, target, save :: bytes(:)
      integer(k), save :: length = 0
      logical, save :: is_partial = .false.
      logical, save :: is_absent = .false.
      integer(c_intptr_t), save :: piece = 0
      integer(k), save :: piece_length = 0

      interface
      function c_open(name, mode) bind(c, name='fopen')
      import
      type(c_ptr) :: c_open
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: mode(*)
      end function
      function c_write(p, size, n, to) bind(c, name='fwrite')
      import
      integer(c_size_t) :: c_write
      type(c_ptr), value :: p
      integer(c_size_t), value :: size
      integer(c_size_t), value :: n
      type(c_ptr), value :: to
      end function
      function c_flush(to) bind(c, name='fflush')
      import
      integer(c_int) :: c_flush
      type(c_ptr), value :: to
      end function
      function c_close(to) bind(c, name='fclose')
      import
      integer(c_int) :: c_close
      type(c_ptr), value :: to
      end function
      function acc_is(p, n) bind(c, name='acc_is_present')
      import
      integer(c_int) :: acc_is
      type(c_ptr), value :: p
      integer(c_size_t), value :: n
      end function
      function acc_at(p) bind(c, name='acc_deviceptr')
      import
      type(c_ptr) :: acc_at
      type(c_ptr), value :: p
      end function
      subroutine acc_get(p, q, n) bind(c, name='acc_memcpy_from_device')
      import
      type(c_ptr), value :: p
      type(c_ptr), value :: q
      integer(c_size_t), value :: n
      end subroutine
      function omp_device() bind(c, name='omp_get_default_device')
      import
      integer(c_int) :: omp_device
      end function
      function omp_host() bind(c, name='omp_get_initial_device')
      import
      integer(c_int) :: omp_host
      end function
      function omp_is(p, n) bind(c, name='omp_target_is_present')
      import
      integer(c_int) :: omp_is
      type(c_ptr), value :: p
      integer(c_int), value :: n
      end function
      end interface

      abstract interface
      function like_is(p, n) bind(c)
      import
      integer(c_int) :: like_is
      type(c_ptr), value :: p
      integer(c_size_t), value :: n
      end function
      function like_at(p) bind(c)
      import
      type(c_ptr) :: like_at
      type(c_ptr), value :: p
      end function
      subroutine like_get(p, q, n) bind(c)
      import
      type(c_ptr), value :: p
      type(c_ptr), value :: q
      integer(c_size_t), value :: n
      end subroutine
      end interface

      contains

! The value of a variable of the environment; empty without one.
      subroutine get(name, value)
      character(*), intent(in) :: name
      character(:), allocatable, intent(out) :: value
      integer :: n
      integer :: status
      call get_environment_variable(name, length=n, status=status)
      if (status /= 0) n = 0
      allocate(character(n) :: value)
      if (n > 0) call get_environment_variable(name, value)
      end subroutine

      function number(name, otherwise)
      character(*), intent(in) :: name
      integer(k), intent(in) :: otherwise
      integer(k) :: number
      character(:), allocatable :: text
      integer :: status
      number = otherwise
      call get(name, text)
      if (len(text) == 0) return
      read (text, *, iostat=status) number
      if (status /= 0) number = otherwise
      end function

      subroutine read_settings()
      is_read = .true.
      call get('ACC2OMP_PIN', folder)
      is_recording = len(folder) > 0
      last = number('ACC2OMP_PIN_LAST', 2147483647_k)
      if (.not. is_recording) return
      every = number('ACC2OMP_PIN_EVERY', 1_k)
      first_ones = number('ACC2OMP_PIN_FIRST', 0_k)
      call get('ACC2OMP_PIN_ONLY', only)
      call get('ACC2OMP_PIN_SAVE', saved_ones)
! The number of this process among those that run together.
      call get('OMPI_COMM_WORLD_RANK', rank)
      if (len(rank) == 0) call get('PMIX_RANK', rank)
      if (len(rank) == 0) call get('PMI_RANK', rank)
      if (len(rank) == 0) call get('SLURM_PROCID', rank)
      if (len(rank) == 0) call get('MV2_COMM_WORLD_RANK', rank)
      if (len(rank) == 0) rank = '0'
      allocate(sites(0))
      allocate(counts_of(0))
      allocate(kept(256))
      allocate(bytes(4096))
      end subroutine

! Whether construct `n` runs on the device while a culprit is looked
! for.
      function acc2omp_pin_on_device(n) result(is_on)
      integer(k), intent(in) :: n
      logical :: is_on
      if (.not. is_read) call read_settings()
      is_on = n <= last
      end function

      function digits_of(n) result(text)
      integer(k), intent(in) :: n
      character(:), allocatable :: text
      character(24) :: wide
      write (wide, '(i0)') n
      text = trim(wide)
      end function

      function value_text(x) result(text)
      real(c_double), intent(in) :: x
      character(:), allocatable :: text
      character(32) :: wide
      write (wide, '(es25.16e3)') x
      text = trim(adjustl(wide))
      end function

! Adds a text to the record.
      subroutine put(text)
      character(*), intent(in) :: text
      integer(b), allocatable, target :: codes(:)
      integer(c_size_t) :: n
      integer :: i
      allocate(codes(len(text) + 1))
      do i = 1, len(text)
        codes(i) = int(iachar(text(i:i)), b)
      end do
      n = len(text)
      n = c_write(c_loc(codes(1)), 1_c_size_t, n, out)
      end subroutine

      subroutine stop_at(path)
      character(*), intent(in) :: path
      write (*, '(2a)') 'acc2omp_pin: cannot write ', path
      error stop 70
      end subroutine

! The number of a site, which may be new.
      function site_of(line) result(at)
      integer(k), intent(in) :: line
      integer :: at
      do at = 1, size(sites)
        if (sites(at) == line) return
      end do
      sites = [sites, line]
      counts_of = [counts_of, 0_k]
      at = size(sites)
      end function

! Begins an event: the host waits for all queues, so that what they do
! is done. Whether it is recorded; counts it if its construct begins.
      function acc2omp_pin_begin(line, name, phase, n) result(is_on)
      integer(k), intent(in) :: line
      character(*), intent(in) :: name
      character(*), intent(in) :: phase
      integer(k), intent(in) :: n
      logical :: is_on
      character(:), allocatable :: path
      integer(k) :: execution
      integer :: at
      is_on = .false.
      if (.not. is_read) call read_settings()
      if (.not. is_recording) return
      at = site_of(line)
      counts_of(at) = counts_of(at) + n
      execution = counts_of(at)
      path = source // ':' // digits_of(line)
      if (len(only) > 0 .and. only /= path) return
      if (first_ones > 0 .and. execution > first_ones) return
      if (every > 1) then
        if (mod(execution - 1, every) /= 0) return
      end if
      path = achar(10) // path // ':' // digits_of(execution)
      is_saved = index(saved_ones, path // achar(10)) > 0
      if (.not. c_associated(out)) then
        path = folder // '/' // rank // '.pins'
        out = c_open(path // c_null_char, 'a' // c_null_char)
        if (.not. c_associated(out)) call stop_at(path)
      end if
!$acc wait
      is_entry = phase == 'entry'
! An event that began before and did not end is over.
      if (is_entry) kept_count = 0
      call put('E' // tab // source // tab // digits_of(line) // tab)
      call put(name // tab // phase // tab // digits_of(execution))
      call put(achar(10))
      is_on = .true.
      end function

! Ends the event.
      subroutine acc2omp_pin_end()
      integer(c_int) :: status
      if (.not. is_entry) kept_count = 0
      status = c_flush(out)
      end subroutine

! Begins a variable of the event: the kind of its elements, and the bits
! that each has.
      subroutine acc2omp_pin_variable(name, kind, bits, where_it_is)
      character(*), intent(in) :: name
      character(*), intent(in) :: kind
      integer, intent(in) :: bits
      integer(k), intent(in) :: where_it_is
      name_of = name
      kind_of = kind
      element = bits / 8
      place = int(where_it_is)
      length = 0
      piece = 0
      piece_length = 0
      is_absent = .false.
      is_partial = .false.
      select case (kind_of)
      case ('f')
        is_partial = element /= 4 .and. element /= 8
      case ('c')
        is_partial = element /= 8 .and. element /= 16
      case ('i', 'u')
        is_partial = all(element /= [1_k, 2_k, 4_k, 8_k])
      case default
        is_partial = .true.
      end select
      end subroutine

! Adds `count` elements to it: the first one, and the one behind it; the
! same again if they lie side by side.
      subroutine acc2omp_pin_row(first, next, count)
!gcc$ attributes no_arg_check :: first, next
!dir$ ignore_tkr first, next
!dec$ attributes no_arg_check :: first, next
      integer, intent(in), target :: first
      integer, intent(in), target :: next
      integer(k), intent(in) :: count
      integer(c_intptr_t) :: start
      integer(c_intptr_t) :: step
      integer(k) :: i
      if (is_partial .or. count <= 0) return
      start = transfer(c_loc(first), start)
      step = transfer(c_loc(next), step) - start
      if (step == 0 .or. step == element) then
        call add(start, count * element)
        return
      end if
      if (step > element .and. step <= near) then
        call add_apart(start, step, count)
        return
      end if
      do i = 0, count - 1
        call add(start + i * step, element)
      end do
      end subroutine

! Adds elements that lie close, as those of objects: what is between
! them is read, too, and dropped.
      subroutine add_apart(start, step, count)
      integer(c_intptr_t), intent(in) :: start
      integer(c_intptr_t), intent(in) :: step
      integer(k), intent(in) :: count
      integer(k) :: before
      integer(k) :: i
      integer(k) :: j
      call flush_piece()
      before = length
      piece = start
      piece_length = (count - 1) * step + element
      call flush_piece()
      if (length == before) return
      do i = 0, count - 1
        do j = 1, element
          bytes(before + i * element + j) = bytes(before + i * step + j)
        end do
      end do
      length = before + count * element
      end subroutine

! Adds bytes: those that lie side by side are one piece.
      subroutine add(start, n)
      integer(c_intptr_t), intent(in) :: start
      integer(k), intent(in) :: n
      if (piece_length > 0 .and. piece + piece_length == start) then
        piece_length = piece_length + n
        return
      end if
      call flush_piece()
      piece = start
      piece_length = n
      end subroutine

! Looks for a piece on the device: where it is, and whether it is there
! in part. A program of OpenMP knows only that it is somewhere.
      subroutine find(p, q, n, at, is_part)
      type(c_ptr), intent(in) :: p
      type(c_ptr), intent(in) :: q
      integer(c_size_t), intent(in) :: n
      type(c_ptr), intent(out) :: at
      logical, intent(out) :: is_part
!$    procedure(like_is), pointer :: acc_is
!$    procedure(like_at), pointer :: acc_at
      logical :: with_openmp
      logical :: is_host
      logical :: ends(2)
      at = c_null_ptr
      is_part = .false.
      with_openmp = .false.
!$    with_openmp = .true.
      if (with_openmp) then
        is_host = .true.
        ends = .true.
!$      is_host = omp_device() == omp_host()
!$      ends(1) = omp_is(p, omp_device()) /= 0
!$      ends(2) = omp_is(q, omp_device()) /= 0
        if (is_host) then
          at = p
          return
        end if
        is_part = ends(1) .neqv. ends(2)
        if (all(ends)) at = transfer(-1_c_intptr_t, at)
      else if (acc_is(p, n) /= 0) then
        at = acc_at(p)
      else
        is_part = acc_is(p, 1_c_size_t) /= 0
        if (acc_is(q, 1_c_size_t) /= 0) is_part = .true.
      end if
      end subroutine

! Reads the device: OpenMP 4.5 has no routine that says where data is.
      subroutine fetch(to, from, at, n)
      integer(c_size_t), intent(in) :: n
      integer(b), intent(inout), target :: to(n)
      integer(b), intent(in) :: from(n)
      type(c_ptr), intent(in) :: at
!$    procedure(like_get), pointer :: acc_get
      logical :: with_openmp
      integer(c_size_t) :: i
      with_openmp = .false.
!$    with_openmp = .true.
      if (with_openmp) then
!$omp target teams distribute parallel do map(alloc: from) map(from: to)
        do i = 1, n
          to(i) = from(i)
        end do
      else
        call acc_get(c_loc(to), at, n)
      end if
      end subroutine

! Takes the bytes of the piece.
      subroutine flush_piece()
      integer(b), allocatable, target :: more(:)
      integer(b), pointer, contiguous :: there(:)
      type(c_ptr) :: p
      type(c_ptr) :: q
      type(c_ptr) :: at
      integer(c_size_t) :: n
      logical :: is_on
      n = piece_length
      piece_length = 0
      if (is_partial .or. n == 0) return
      p = transfer(piece, p)
      q = transfer(piece + n - 1, q)
      if (.not. c_associated(p)) then
        is_partial = .true.
        return
      end if
      if (length + n > size(bytes, kind=k)) then
        allocate(more(2 * (length + n)))
        more(1:length) = bytes(1:length)
        call move_alloc(more, bytes)
      end if
      at = c_null_ptr
      if (place /= host) call find(p, q, n, at, is_partial)
      is_on = c_associated(at)
      if (place == device .and. .not. is_on) is_partial = .true.
      if (place == placed .and. .not. is_on) is_absent = .true.
      if (place == made .and. .not. is_on) is_absent = .true.
      if (is_absent) is_partial = .true.
      if (is_on .and. c_associated(at, p)) is_on = .false.
      if (place == absent .and. is_on) is_partial = .true.
      if (is_partial .or. place == made) return
      call c_f_pointer(p, there, [n])
      if (is_on) then
        call fetch(bytes(length + 1), there, at, n)
      else
        bytes(length + 1:length + n) = there
      end if
      length = length + n
      end subroutine

      subroutine mix(hash, word)
      integer(k), intent(inout) :: hash
      integer(k), intent(in) :: word
      hash = ieor(hash, word)
      hash = ieor(hash, ishft(hash, 13))
      hash = ieor(hash, ishft(hash, -7))
      hash = ieor(hash, ishft(hash, 17))
      end subroutine

! The value of an element; of a complex one, the part that is farther
! from 0.
      function value_of(at) result(x)
      integer(k), intent(in) :: at
      real(c_double) :: x
      real(c_double) :: y
      integer(k) :: from
      integer(k) :: half
      from = at * element + 1
      select case (kind_of)
      case ('f')
        x = real_of(from, element)
      case ('c')
        half = element / 2
        x = real_of(from, half)
        y = real_of(from + half, half)
        if (abs(x) < abs(y)) x = y
      case default
        x = integer_of(from)
      end select
      end function

      function real_of(from, n) result(x)
      integer(k), intent(in) :: from
      integer(k), intent(in) :: n
      real(c_double) :: x
      if (n == 4) then
        x = transfer(bytes(from:from + 3), 0.0_c_float)
      else
        x = transfer(bytes(from:from + 7), 0.0_c_double)
      end if
      end function

      function integer_of(from) result(n)
      integer(k), intent(in) :: from
      integer(k) :: n
      select case (element)
      case (1)
        n = bytes(from)
      case (2)
        n = transfer(bytes(from:from + 1), 0_c_short)
      case (4)
        n = transfer(bytes(from:from + 3), 0_c_int)
      case default
        n = transfer(bytes(from:from + 7), 0_k)
      end select
      end function

! Values of logicals: compilers differ in what is true.
      subroutine make_logical()
      integer(k) :: at
      logical :: is_true
      do at = 1, length, element
        is_true = any(bytes(at:at + element - 1) /= 0)
        bytes(at:at + element - 1) = 0
        if (is_true) bytes(at) = 1
      end do
      end subroutine

! Writes the bytes of the variable into a file of their own.
      subroutine save_bytes()
      character(:), allocatable :: name
      character(:), allocatable :: path
      type(c_ptr) :: to
      integer(c_size_t) :: n
      integer(c_int) :: status
      saved = saved + 1
      name = rank // '.' // own // '.' // digits_of(saved) // '.bin'
      path = folder // '/' // name
      to = c_open(path // c_null_char, 'wb' // c_null_char)
      if (.not. c_associated(to)) call stop_at(path)
      n = length
      n = c_write(c_loc(bytes(1)), 1_c_size_t, n, to)
      status = c_close(to)
      if (n /= length .or. status /= 0) call stop_at(path)
      call put('B' // tab // name // achar(10))
      end subroutine

! What the variable was when its construct began: its number among
! what is kept; 0 if it is not there.
      function kept_of() result(found)
      integer :: found
      integer :: at
      found = 0
      if (is_entry) return
      do at = 1, kept_count
        if (kept(at)%name /= name_of) cycle
        if (kept(at)%length == length) found = at
        return
      end do
      end function

      subroutine keep()
      type(kept_t), allocatable :: more(:)
      integer :: at
      if (kept_count == size(kept)) then
        allocate(more(2 * kept_count))
        do at = 1, kept_count
          more(at)%name = kept(at)%name
          more(at)%length = kept(at)%length
          call move_alloc(kept(at)%bytes, more(at)%bytes)
        end do
        call move_alloc(more, kept)
      end if
      kept_count = kept_count + 1
      kept(kept_count)%name = name_of
      kept(kept_count)%length = length
      kept(kept_count)%bytes = bytes(1:length)
      end subroutine

! Whether the construct has changed an element.
      function is_changed(at, old) result(is)
      integer(k), intent(in) :: at
      integer, intent(in) :: old
      logical :: is
      integer(k) :: i
      is = .true.
      if (old == 0) return
      do i = at * element + 1, (at + 1) * element
        if (kept(old)%bytes(i) /= bytes(i)) return
      end do
      is = .false.
      end function

! Ends the variable: what it holds is written; when its construct
! begins, it is kept until the end. What numbers raise is not seen.
      subroutine acc2omp_pin_variable_end()
      type(ieee_status_type) :: status
! The module knows this kind, whatever integers are by default.
      logical(4), parameter :: off = .false.
      call flush_piece()
      call put('V' // tab // name_of // tab)
      if (is_partial) then
        if (is_absent) call put('!' // achar(10))
        if (.not. is_absent) call put('?' // achar(10))
        return
      end if
      if (place == made) then
        call put('+' // achar(10))
        return
      end if
      if (kind_of == 'u') call make_logical()
      call ieee_get_status(status)
      call ieee_set_halting_mode(ieee_all, off)
      call put_variable(kept_of())
      call ieee_set_status(status)
      if (is_saved) call save_bytes()
      if (is_entry) call keep()
      end subroutine

      subroutine put_variable(old)
      integer, intent(in) :: old
      real(c_double) :: x
      real(c_double) :: total
      real(c_double) :: size_of
      integer(k) :: count
      integer(k) :: changed
      integer(k) :: all_of
      integer(k) :: some
      integer(k) :: step
      integer(k) :: at
      integer(k) :: i
      integer(k) :: n
      count = length / element
      all_of = count
      some = 0
      total = 0
      size_of = 0
      changed = 0
      do at = 0, count - 1
        do i = at * element + 1, (at + 1) * element
          call mix(all_of, int(bytes(i), k))
        end do
        if (.not. is_changed(at, old)) cycle
        changed = changed + 1
        some = ieor(some, at)
        do i = at * element + 1, (at + 1) * element
          call mix(some, int(bytes(i), k))
        end do
        x = value_of(at)
        total = total + x
        size_of = size_of + abs(x)
      end do
      call put(kind_of // digits_of(element) // tab)
      call put(digits_of(count) // tab // digits_of(all_of) // tab)
      call put(digits_of(changed) // tab // digits_of(some) // tab)
      call put(value_text(total) // tab // value_text(size_of))
      step = max(changed / samples, 1_k)
      n = 0
      i = 0
      do at = 0, count - 1
        if (n == samples) exit
        if (.not. is_changed(at, old)) cycle
        i = i + 1
        if (mod(i - 1, step) /= 0) cycle
        n = n + 1
        x = value_of(at)
        call put(tab // digits_of(at) // '=' // value_text(x))
      end do
      call put(achar(10))
      end subroutine
      end module acc2omp_pin_source
