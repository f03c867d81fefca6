! acc2omp_cuda_module.f90: the run-time library of acc2omp_cuda.h for Fortran 2018.
!
! Written by acc2omp beside the programs that it translates. It is yours: use, change and pass it on freely (CC0-1.0).
! What it says of data holds for arrays and contiguous sections of any type and rank, and for scalars; an array that is not
! allocated, an optional argument that is absent and an array without elements are nothing.
module acc2omp_cuda
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer, parameter, public :: acc_device_kind = c_int, acc_handle_kind = c_int
  integer(c_int), parameter, public :: acc_device_current = -1, acc_device_none = 0, acc_device_default = 1, &
      acc_device_host = 2, acc_device_not_host = 4, acc_device_nvidia = 5, acc_device_radeon = 8
  integer(c_int), parameter, public :: acc_async_noval = -1, acc_async_sync = -2, acc_async_default = -3

  ! Structured data regions, and what becomes of data in the newest one.
  public :: acc2omp_begin, acc2omp_end
  public :: acc2omp_copy, acc2omp_copyin, acc2omp_copyout, acc2omp_copyout_zero
  public :: acc2omp_create, acc2omp_create_zero, acc2omp_present, acc2omp_no_create
  ! `enter data`, `exit data`, `update`; on a queue if one is given.
  public :: acc2omp_enter_copyin, acc2omp_enter_create, acc2omp_enter_create_zero
  public :: acc2omp_exit_copyout, acc2omp_exit_copyout_finalize, acc2omp_exit_delete, acc2omp_exit_delete_finalize
  public :: acc2omp_update_self, acc2omp_update_device
  ! Where data are on the device, for `host_data`.
  public :: acc2omp_device
  ! OpenACC's own routines.
  public :: acc_wait, acc_wait_all, acc_wait_async, acc_wait_all_async, acc_async_test, acc_async_test_all
  public :: acc_get_num_devices, acc_set_device_num, acc_get_device_num, acc_set_device_type, acc_get_device_type
  public :: acc_init, acc_shutdown, acc_get_default_async, acc_set_default_async
  public :: acc_copyin, acc_present_or_copyin, acc_pcopyin, acc_create, acc_present_or_create, acc_pcreate
  public :: acc_copyout, acc_copyout_finalize, acc_delete, acc_delete_finalize, acc_update_device
  public :: acc_update_self, acc_copyin_async, acc_create_async, acc_copyout_async, acc_copyout_finalize_async
  public :: acc_delete_async, acc_delete_finalize_async, acc_update_device_async, acc_update_self_async
  public :: acc_is_present, acc_wait_device, acc_wait_all_device, acc_async_wait, acc_async_wait_all
  public :: acc_malloc, acc_free, acc_on_device, acc_init_device, acc_shutdown_device

  interface
    function text_of(text, length) bind(c, name="acc2omp_text")
      import
      character(kind=c_char) :: text(*)
      integer(c_size_t), value :: length
      type(c_ptr) :: text_of
    end function
    function element_of(data) bind(c, name="acc2omp_element")
      import
      type(*) :: data(..)
      integer(c_size_t) :: element_of
    end function
    subroutine c_update(name, data, dimensions, extents, to_device, queue) bind(c, name="acc2omp_update")
      import
      type(c_ptr), value :: name
      type(*) :: data(..)
      integer(c_int), value :: dimensions
      integer(c_size_t), intent(in) :: extents(*)
      integer(c_int), value :: to_device, queue
    end subroutine
    subroutine stop_at(name) bind(c, name="acc2omp_stop")
      import
      type(c_ptr), value :: name
    end subroutine
    subroutine c_begin(where, queue) bind(c, name="acc2omp_begin")
      import
      type(c_ptr), value :: where
      integer(c_int), value :: queue
    end subroutine
    subroutine acc2omp_end() bind(c, name="acc2omp_end")
    end subroutine
    function c_copy(name, data, bytes) bind(c, name="acc2omp_copy")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_copy
    end function
    function c_copyin(name, data, bytes) bind(c, name="acc2omp_copyin")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_copyin
    end function
    function c_copyout(name, data, bytes) bind(c, name="acc2omp_copyout")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_copyout
    end function
    function c_copyout_zero(name, data, bytes) bind(c, name="acc2omp_copyout_zero")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_copyout_zero
    end function
    function c_create(name, data, bytes) bind(c, name="acc2omp_create")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_create
    end function
    function c_create_zero(name, data, bytes) bind(c, name="acc2omp_create_zero")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_create_zero
    end function
    function c_present(name, data, bytes) bind(c, name="acc2omp_present")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_present
    end function
    function c_no_create(name, data, bytes) bind(c, name="acc2omp_no_create")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_no_create
    end function
    function c_enter_create_zero(name, data, bytes, queue) bind(c, name="acc2omp_create_zero_dynamic")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
      type(c_ptr) :: c_enter_create_zero
    end function
    function c_enter_copyin(data, bytes, queue) bind(c, name="acc_copyin_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
      type(c_ptr) :: c_enter_copyin
    end function
    function c_enter_create(data, bytes, queue) bind(c, name="acc_create_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
      type(c_ptr) :: c_enter_create
    end function
    subroutine c_exit_copyout(data, bytes, queue) bind(c, name="acc_copyout_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
    subroutine c_exit_copyout_finalize(data, bytes, queue) bind(c, name="acc_copyout_finalize_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
    subroutine c_exit_delete(data, bytes, queue) bind(c, name="acc_delete_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
    subroutine c_exit_delete_finalize(data, bytes, queue) bind(c, name="acc_delete_finalize_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
    subroutine c_update_self(data, bytes, queue) bind(c, name="acc_update_self_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
    subroutine c_update_device(data, bytes, queue) bind(c, name="acc_update_device_async")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
    function device_of(data) bind(c, name="acc_deviceptr")
      import
      type(c_ptr), value :: data
      type(c_ptr) :: device_of
    end function
    subroutine acc_wait(queue) bind(c)
      import
      integer(c_int), value :: queue
    end subroutine
    subroutine acc_wait_all() bind(c)
    end subroutine
    subroutine acc_wait_async(queue, waiting) bind(c)
      import
      integer(c_int), value :: queue, waiting
    end subroutine
    subroutine acc_wait_all_async(waiting) bind(c)
      import
      integer(c_int), value :: waiting
    end subroutine
    function c_async_test(queue) bind(c, name="acc_async_test")
      import
      integer(c_int), value :: queue
      integer(c_int) :: c_async_test
    end function
    function c_async_test_all() bind(c, name="acc_async_test_all")
      import
      integer(c_int) :: c_async_test_all
    end function
    function acc_get_num_devices(kind_of_device) bind(c)
      import
      integer(c_int), value :: kind_of_device
      integer(c_int) :: acc_get_num_devices
    end function
    subroutine acc_set_device_num(number, kind_of_device) bind(c)
      import
      integer(c_int), value :: number, kind_of_device
    end subroutine
    function acc_get_device_num(kind_of_device) bind(c)
      import
      integer(c_int), value :: kind_of_device
      integer(c_int) :: acc_get_device_num
    end function
    subroutine acc_set_device_type(kind_of_device) bind(c)
      import
      integer(c_int), value :: kind_of_device
    end subroutine
    function acc_get_device_type() bind(c)
      import
      integer(c_int) :: acc_get_device_type
    end function
    subroutine acc_init(kind_of_device) bind(c)
      import
      integer(c_int), value :: kind_of_device
    end subroutine
    subroutine acc_shutdown(kind_of_device) bind(c)
      import
      integer(c_int), value :: kind_of_device
    end subroutine
    function acc_get_default_async() bind(c)
      import
      integer(c_int) :: acc_get_default_async
    end function
    subroutine acc_set_default_async(queue) bind(c)
      import
      integer(c_int), value :: queue
    end subroutine
    subroutine acc_wait_device(queue, device) bind(c)
      import
      integer(c_int), value :: queue, device
    end subroutine
    subroutine acc_wait_all_device(device) bind(c)
      import
      integer(c_int), value :: device
    end subroutine
    subroutine acc_async_wait(queue) bind(c)
      import
      integer(c_int), value :: queue
    end subroutine
    subroutine acc_async_wait_all() bind(c)
    end subroutine
    function c_malloc(bytes) bind(c, name="acc_malloc")
      import
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_malloc
    end function
    subroutine acc_free(data) bind(c)
      import
      type(c_ptr), value :: data
    end subroutine
    function c_is_present(data, bytes) bind(c, name="acc_is_present")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_is_present
    end function
    function c_on_device(kind_of_device) bind(c, name="acc_on_device")
      import
      integer(c_int), value :: kind_of_device
      integer(c_int) :: c_on_device
    end function
    subroutine acc_init_device(number, kind_of_device) bind(c)
      import
      integer(c_int), value :: number, kind_of_device
    end subroutine
    subroutine acc_shutdown_device(number, kind_of_device) bind(c)
      import
      integer(c_int), value :: number, kind_of_device
    end subroutine
  end interface

  interface acc_malloc
    procedure acc_malloc_4, acc_malloc_8
  end interface
  interface acc_copyin
    procedure acc_copyin_all, acc_copyin_4, acc_copyin_8
  end interface
  interface acc_copyin_async
    procedure acc_copyin_async_all, acc_copyin_async_4, acc_copyin_async_8
  end interface
  interface acc_present_or_copyin
    procedure acc_copyin_all, acc_copyin_4, acc_copyin_8
  end interface
  interface acc_pcopyin
    procedure acc_copyin_all, acc_copyin_4, acc_copyin_8
  end interface
  interface acc_create
    procedure acc_create_all, acc_create_4, acc_create_8
  end interface
  interface acc_create_async
    procedure acc_create_async_all, acc_create_async_4, acc_create_async_8
  end interface
  interface acc_present_or_create
    procedure acc_create_all, acc_create_4, acc_create_8
  end interface
  interface acc_pcreate
    procedure acc_create_all, acc_create_4, acc_create_8
  end interface
  interface acc_copyout
    procedure acc_copyout_all, acc_copyout_4, acc_copyout_8
  end interface
  interface acc_copyout_async
    procedure acc_copyout_async_all, acc_copyout_async_4, acc_copyout_async_8
  end interface
  interface acc_copyout_finalize
    procedure acc_copyout_finalize_all, acc_copyout_finalize_4, acc_copyout_finalize_8
  end interface
  interface acc_copyout_finalize_async
    procedure acc_copyout_finalize_async_all, acc_copyout_finalize_async_4, acc_copyout_finalize_async_8
  end interface
  interface acc_delete
    procedure acc_delete_all, acc_delete_4, acc_delete_8
  end interface
  interface acc_delete_async
    procedure acc_delete_async_all, acc_delete_async_4, acc_delete_async_8
  end interface
  interface acc_delete_finalize
    procedure acc_delete_finalize_all, acc_delete_finalize_4, acc_delete_finalize_8
  end interface
  interface acc_delete_finalize_async
    procedure acc_delete_finalize_async_all, acc_delete_finalize_async_4, acc_delete_finalize_async_8
  end interface
  interface acc_update_device
    procedure acc_update_device_all, acc_update_device_4, acc_update_device_8
  end interface
  interface acc_update_device_async
    procedure acc_update_device_async_all, acc_update_device_async_4, acc_update_device_async_8
  end interface
  interface acc_update_self
    procedure acc_update_self_all, acc_update_self_4, acc_update_self_8
  end interface
  interface acc_update_self_async
    procedure acc_update_self_async_all, acc_update_self_async_4, acc_update_self_async_8
  end interface
  interface acc_is_present
    procedure acc_is_present_all, acc_is_present_4, acc_is_present_8
  end interface

contains

  ! A text that outlives the regions that speak of it.
  function kept(text)
    character(*), intent(in) :: text
    type(c_ptr) :: kept
    kept = text_of(text, len(text, kind=c_size_t))
  end function

  integer(c_int) function chosen(queue)
    integer, optional, intent(in) :: queue
    chosen = acc_async_sync
    if (present(queue)) chosen = int(queue, c_int)
  end function

  ! Where data begins and how many bytes it has; NULL and 0 for nothing.
  subroutine place(name, data, first, bytes)
    type(c_ptr), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr), intent(out) :: first
    integer(c_size_t), intent(out) :: bytes
    first = c_null_ptr
    bytes = 0
    if (.not. present(data)) return
    bytes = size(data, kind=c_size_t) * element_of(data)
    if (bytes == 0) return
    if (.not. is_contiguous(data)) call stop_at(name)
    first = c_loc(data)
  end subroutine

  logical function is_one_piece(data)
    type(*), dimension(..), optional :: data
    is_one_piece = .true.
    if (.not. present(data)) return
    if (size(data, kind=c_size_t) > 0) is_one_piece = is_contiguous(data)
  end function

  function extents_of(data) result(extents)
    type(*), dimension(..) :: data
    integer(c_size_t) :: extents(15)
    integer :: at
    extents = 1
    do at = 1, rank(data)
      extents(at) = size(data, at, kind=c_size_t)
    end do
  end function

  ! Where data are on the device; on the host if that is not wanted, or if they are not there and `if_present` is true.
  function acc2omp_device(data, wanted, if_present) result(address)
    type(*), dimension(..), target :: data
    logical, optional, intent(in) :: wanted, if_present
    type(c_ptr) :: address
    integer(c_size_t) :: bytes
    call place(kept("use_device"), data, address, bytes)
    if (bytes == 0) return
    if (present(wanted)) then
      if (.not. wanted) return
    end if
    if (present(if_present)) then
      if (if_present .and. c_is_present(address, 1_c_size_t) == 0) return
    end if
    address = device_of(address)
  end function

  subroutine acc2omp_begin(where, queue)
    character(*), intent(in) :: where
    integer, optional, intent(in) :: queue
    call c_begin(kept(where), chosen(queue))
  end subroutine

  subroutine acc2omp_copy(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_copy(text, first, bytes)
  end subroutine

  subroutine acc2omp_copyin(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_copyin(text, first, bytes)
  end subroutine

  subroutine acc2omp_copyout(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_copyout(text, first, bytes)
  end subroutine

  subroutine acc2omp_copyout_zero(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_copyout_zero(text, first, bytes)
  end subroutine

  subroutine acc2omp_create(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_create(text, first, bytes)
  end subroutine

  subroutine acc2omp_create_zero(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_create_zero(text, first, bytes)
  end subroutine

  subroutine acc2omp_present(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_present(text, first, bytes)
  end subroutine

  subroutine acc2omp_no_create(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_no_create(text, first, bytes)
  end subroutine

  subroutine acc2omp_enter_copyin(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_enter_copyin(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_enter_create(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_enter_create(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_enter_create_zero(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) there = c_enter_create_zero(text, first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_exit_copyout(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) call c_exit_copyout(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_exit_copyout_finalize(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) call c_exit_copyout_finalize(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_exit_delete(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) call c_exit_delete(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_exit_delete_finalize(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (bytes > 0) call c_exit_delete_finalize(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_update_self(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first
    integer(c_size_t) :: bytes
    text = kept(name)
    if (.not. is_one_piece(data)) then
      call c_update(text, data, rank(data), extents_of(data), 0_c_int, chosen(queue))
      return
    end if
    call place(text, data, first, bytes)
    if (bytes > 0) call c_update_self(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_update_device(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first
    integer(c_size_t) :: bytes
    text = kept(name)
    if (.not. is_one_piece(data)) then
      call c_update(text, data, rank(data), extents_of(data), 1_c_int, chosen(queue))
      return
    end if
    call place(text, data, first, bytes)
    if (bytes > 0) call c_update_device(first, bytes, chosen(queue))
  end subroutine

  logical function acc_async_test(queue)
    integer(c_int), intent(in) :: queue
    acc_async_test = c_async_test(queue) /= 0
  end function

  logical function acc_async_test_all()
    acc_async_test_all = c_async_test_all() /= 0
  end function
  subroutine acc_copyin_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) there = c_enter_copyin(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyin_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_copyin(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyin_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_copyin(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyin_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) there = c_enter_copyin(first, length, queue)
  end subroutine

  subroutine acc_copyin_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_copyin(first, length, queue)
  end subroutine

  subroutine acc_copyin_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_copyin(first, length, queue)
  end subroutine

  subroutine acc_create_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) there = c_enter_create(first, length, acc_async_sync)
  end subroutine

  subroutine acc_create_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_create(first, length, acc_async_sync)
  end subroutine

  subroutine acc_create_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_create(first, length, acc_async_sync)
  end subroutine

  subroutine acc_create_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) there = c_enter_create(first, length, queue)
  end subroutine

  subroutine acc_create_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_create(first, length, queue)
  end subroutine

  subroutine acc_create_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) there = c_enter_create(first, length, queue)
  end subroutine

  subroutine acc_copyout_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_copyout(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyout_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyout_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyout_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_copyout(first, length, queue)
  end subroutine

  subroutine acc_copyout_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout(first, length, queue)
  end subroutine

  subroutine acc_copyout_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout(first, length, queue)
  end subroutine

  subroutine acc_copyout_finalize_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_copyout_finalize(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyout_finalize_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout_finalize(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyout_finalize_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout_finalize(first, length, acc_async_sync)
  end subroutine

  subroutine acc_copyout_finalize_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_copyout_finalize(first, length, queue)
  end subroutine

  subroutine acc_copyout_finalize_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout_finalize(first, length, queue)
  end subroutine

  subroutine acc_copyout_finalize_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_copyout_finalize(first, length, queue)
  end subroutine

  subroutine acc_delete_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_delete(first, length, acc_async_sync)
  end subroutine

  subroutine acc_delete_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete(first, length, acc_async_sync)
  end subroutine

  subroutine acc_delete_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete(first, length, acc_async_sync)
  end subroutine

  subroutine acc_delete_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_delete(first, length, queue)
  end subroutine

  subroutine acc_delete_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete(first, length, queue)
  end subroutine

  subroutine acc_delete_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete(first, length, queue)
  end subroutine

  subroutine acc_delete_finalize_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_delete_finalize(first, length, acc_async_sync)
  end subroutine

  subroutine acc_delete_finalize_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete_finalize(first, length, acc_async_sync)
  end subroutine

  subroutine acc_delete_finalize_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete_finalize(first, length, acc_async_sync)
  end subroutine

  subroutine acc_delete_finalize_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_exit_delete_finalize(first, length, queue)
  end subroutine

  subroutine acc_delete_finalize_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete_finalize(first, length, queue)
  end subroutine

  subroutine acc_delete_finalize_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_exit_delete_finalize(first, length, queue)
  end subroutine

  subroutine acc_update_device_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_update_device(first, length, acc_async_sync)
  end subroutine

  subroutine acc_update_device_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_device(first, length, acc_async_sync)
  end subroutine

  subroutine acc_update_device_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_device(first, length, acc_async_sync)
  end subroutine

  subroutine acc_update_device_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_update_device(first, length, queue)
  end subroutine

  subroutine acc_update_device_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_device(first, length, queue)
  end subroutine

  subroutine acc_update_device_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_device(first, length, queue)
  end subroutine

  subroutine acc_update_self_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_update_self(first, length, acc_async_sync)
  end subroutine

  subroutine acc_update_self_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_self(first, length, acc_async_sync)
  end subroutine

  subroutine acc_update_self_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_self(first, length, acc_async_sync)
  end subroutine

  subroutine acc_update_self_async_all(data, queue)
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    if (length > 0) call c_update_self(first, length, queue)
  end subroutine

  subroutine acc_update_self_async_4(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_self(first, length, queue)
  end subroutine

  subroutine acc_update_self_async_8(data, bytes, queue)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    if (length > 0) call c_update_self(first, length, queue)
  end subroutine

  logical function acc_is_present_all(data)
    type(*), dimension(..), target :: data
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    acc_is_present_all = c_is_present(first, length) /= 0
  end function

  logical function acc_is_present_4(data, bytes)
    type(*), dimension(..), target :: data
    integer(4), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    acc_is_present_4 = c_is_present(first, length) /= 0
  end function

  logical function acc_is_present_8(data, bytes)
    type(*), dimension(..), target :: data
    integer(8), intent(in) :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call place(kept("data"), data, first, length)
    length = int(bytes, c_size_t)
    acc_is_present_8 = c_is_present(first, length) /= 0
  end function

  type(c_ptr) function acc_malloc_4(bytes)
    integer(4), intent(in) :: bytes
    acc_malloc_4 = c_malloc(int(bytes, c_size_t))
  end function

  type(c_ptr) function acc_malloc_8(bytes)
    integer(8), intent(in) :: bytes
    acc_malloc_8 = c_malloc(int(bytes, c_size_t))
  end function

  logical function acc_on_device(kind_of_device)
    integer(c_int), intent(in) :: kind_of_device
    acc_on_device = c_on_device(kind_of_device) /= 0
  end function
end module acc2omp_cuda
