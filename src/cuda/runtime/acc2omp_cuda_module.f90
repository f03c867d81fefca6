! acc2omp_cuda_module.f90: the run-time library of acc2omp_cuda.h for Fortran 2018.
!
! Written by acc2omp beside the programs that it translates. It is yours: use, change and pass it on freely (CC0-1.0).
! What it says of data holds for arrays and contiguous sections of any type and rank, and for scalars; an array that is not
! allocated, an optional argument that is absent and an array without elements are nothing.
module acc2omp_cuda
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer, parameter, public :: acc_device_kind = c_int, acc_handle_kind = c_int, acc_device_property_kind = c_int
  integer(c_int), parameter, public :: acc_device_current = -1, acc_device_none = 0, acc_device_default = 1, &
      acc_device_host = 2, acc_device_not_host = 4, acc_device_nvidia = 5, acc_device_radeon = 8
  integer(c_int), parameter, public :: acc_async_noval = -1, acc_async_sync = -2, acc_async_default = -3
  integer(c_int), parameter, public :: acc_property_none = 0, acc_property_memory = 1, acc_property_free_memory = 2, &
      acc_property_shared_memory_support = 3, acc_property_name = 65537, acc_property_vendor = 65538, &
      acc_property_driver = 65539

  ! Structured data regions, and what becomes of data in the newest one.
  public :: acc2omp_begin, acc2omp_end
  public :: acc2omp_copy, acc2omp_copyin, acc2omp_copyout, acc2omp_copyout_zero
  public :: acc2omp_create, acc2omp_create_zero, acc2omp_present, acc2omp_no_create
  ! `enter data`, `exit data`, `update`; on a queue if one is given.
  public :: acc2omp_enter_copyin, acc2omp_enter_create, acc2omp_enter_create_zero
  public :: acc2omp_exit_copyout, acc2omp_exit_copyout_finalize, acc2omp_exit_delete, acc2omp_exit_delete_finalize
  public :: acc2omp_update_self, acc2omp_update_device
  ! `declare` in modules: memory on the device for what has none yet.
  public :: acc2omp_declare_create, acc2omp_declare_copyin
  ! Objects of derived types are as large here as in C++.
  public :: acc2omp_check_size
  ! The memory of an object that has procedures, which arguments of assumed type do not take.
  public :: acc2omp_object
  ! Where data are on the device, for `host_data`.
  public :: acc2omp_device
  ! How many elements a dimension has: none of an argument that is absent.
  public :: acc2omp_size
  ! OpenACC's own routines, for devices, queues and data.
  public :: acc_get_num_devices, acc_set_device_type, acc_get_device_type, acc_set_device_num, acc_get_device_num
  public :: acc_get_property, acc_get_property_string, acc_on_device
  public :: acc_init, acc_init_device, acc_shutdown, acc_shutdown_device
  public :: acc_async_test, acc_async_test_device, acc_async_test_all, acc_async_test_all_device
  public :: acc_wait, acc_wait_device, acc_wait_all, acc_wait_all_device, acc_wait_any, acc_wait_any_device
  public :: acc_wait_async, acc_wait_device_async, acc_wait_all_async, acc_wait_all_device_async
  public :: acc_async_wait, acc_async_wait_all, acc_get_default_async, acc_set_default_async
  public :: acc_get_cuda_stream, acc_set_cuda_stream
  public :: acc_malloc, acc_free, acc_map_data, acc_unmap_data, acc_deviceptr, acc_hostptr, acc_is_present
  public :: acc_copyin, acc_present_or_copyin, acc_pcopyin, acc_create, acc_present_or_create, acc_pcreate
  public :: acc_copyin_async, acc_create_async, acc_copyout, acc_copyout_async, acc_copyout_finalize
  public :: acc_copyout_finalize_async, acc_delete, acc_delete_async, acc_delete_finalize, acc_delete_finalize_async
  public :: acc_update_device, acc_update_device_async, acc_update_self, acc_update_self_async
  public :: acc_memcpy_to_device, acc_memcpy_to_device_async, acc_memcpy_from_device, acc_memcpy_from_device_async
  public :: acc_memcpy_device, acc_memcpy_device_async, acc_memcpy_d2d, acc_memcpy_d2d_async
  public :: acc_attach, acc_attach_async, acc_detach, acc_detach_async, acc_detach_finalize, acc_detach_finalize_async

  abstract interface
    ! In a structured region.
    function in_region(name, data, bytes) bind(c)
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      type(c_ptr) :: in_region
    end function
    ! Until data is taken from the device.
    function bringing(data, bytes, queue) bind(c)
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
      type(c_ptr) :: bringing
    end function
    subroutine moving(data, bytes, queue) bind(c)
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
    subroutine copying(to, from, bytes, queue) bind(c)
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
    end subroutine
  end interface

  ! Handed on as arguments, and not called by these names: gfortran 12 forgets that their arguments are values.
  procedure(in_region), bind(c, name="acc2omp_copy") :: c_copy
  procedure(in_region), bind(c, name="acc2omp_copyin") :: c_copyin
  procedure(in_region), bind(c, name="acc2omp_copyout") :: c_copyout
  procedure(in_region), bind(c, name="acc2omp_copyout_zero") :: c_copyout_zero
  procedure(in_region), bind(c, name="acc2omp_create") :: c_create
  procedure(in_region), bind(c, name="acc2omp_create_zero") :: c_create_zero
  procedure(in_region), bind(c, name="acc2omp_present") :: c_present
  procedure(in_region), bind(c, name="acc2omp_no_create") :: c_no_create
  procedure(bringing), bind(c, name="acc_copyin_async") :: c_enter_copyin
  procedure(bringing), bind(c, name="acc_create_async") :: c_enter_create
  procedure(moving), bind(c, name="acc_copyout_async") :: c_exit_copyout
  procedure(moving), bind(c, name="acc_copyout_finalize_async") :: c_exit_copyout_finalize
  procedure(moving), bind(c, name="acc_delete_async") :: c_exit_delete
  procedure(moving), bind(c, name="acc_delete_finalize_async") :: c_exit_delete_finalize
  procedure(moving), bind(c, name="acc_update_self_async") :: c_update_self
  procedure(moving), bind(c, name="acc_update_device_async") :: c_update_device
  procedure(copying), bind(c, name="acc_memcpy_to_device_async") :: c_memcpy_to_device
  procedure(copying), bind(c, name="acc_memcpy_from_device_async") :: c_memcpy_from_device
  procedure(copying), bind(c, name="acc_memcpy_device_async") :: c_memcpy_device

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
    subroutine c_declare(host, bytes, device_address, copies) bind(c, name="acc2omp_declare")
      import
      type(c_ptr), value :: host
      integer(c_size_t), value :: bytes
      type(c_funptr), value :: device_address
      integer(c_int), value :: copies
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
    function c_enter_create_zero(name, data, bytes, queue) bind(c, name="acc2omp_create_zero_dynamic")
      import
      type(c_ptr), value :: name, data
      integer(c_size_t), value :: bytes
      integer(c_int), value :: queue
      type(c_ptr) :: c_enter_create_zero
    end function
    function acc_get_num_devices(dev_type) bind(c)
      import
      integer(c_int), value :: dev_type
      integer(c_int) :: acc_get_num_devices
    end function
    subroutine acc_set_device_type(dev_type) bind(c)
      import
      integer(c_int), value :: dev_type
    end subroutine
    function acc_get_device_type() bind(c)
      import
      integer(c_int) :: acc_get_device_type
    end function
    subroutine acc_set_device_num(dev_num, dev_type) bind(c)
      import
      integer(c_int), value :: dev_num, dev_type
    end subroutine
    function acc_get_device_num(dev_type) bind(c)
      import
      integer(c_int), value :: dev_type
      integer(c_int) :: acc_get_device_num
    end function
    function acc_get_property(dev_num, dev_type, property) bind(c)
      import
      integer(c_int), value :: dev_num, dev_type, property
      integer(c_size_t) :: acc_get_property
    end function
    function c_get_property_string(dev_num, dev_type, property) bind(c, name="acc_get_property_string")
      import
      integer(c_int), value :: dev_num, dev_type, property
      type(c_ptr) :: c_get_property_string
    end function
    subroutine acc_init(dev_type) bind(c)
      import
      integer(c_int), value :: dev_type
    end subroutine
    subroutine acc_init_device(dev_num, dev_type) bind(c)
      import
      integer(c_int), value :: dev_num, dev_type
    end subroutine
    subroutine acc_shutdown(dev_type) bind(c)
      import
      integer(c_int), value :: dev_type
    end subroutine
    subroutine acc_shutdown_device(dev_num, dev_type) bind(c)
      import
      integer(c_int), value :: dev_num, dev_type
    end subroutine
    function c_on_device(dev_type) bind(c, name="acc_on_device")
      import
      integer(c_int), value :: dev_type
      integer(c_int) :: c_on_device
    end function
    function c_async_test(wait_arg) bind(c, name="acc_async_test")
      import
      integer(c_int), value :: wait_arg
      integer(c_int) :: c_async_test
    end function
    function c_async_test_device(wait_arg, dev_num) bind(c, name="acc_async_test_device")
      import
      integer(c_int), value :: wait_arg, dev_num
      integer(c_int) :: c_async_test_device
    end function
    function c_async_test_all() bind(c, name="acc_async_test_all")
      import
      integer(c_int) :: c_async_test_all
    end function
    function c_async_test_all_device(dev_num) bind(c, name="acc_async_test_all_device")
      import
      integer(c_int), value :: dev_num
      integer(c_int) :: c_async_test_all_device
    end function
    subroutine acc_wait(wait_arg) bind(c)
      import
      integer(c_int), value :: wait_arg
    end subroutine
    subroutine acc_wait_device(wait_arg, dev_num) bind(c)
      import
      integer(c_int), value :: wait_arg, dev_num
    end subroutine
    subroutine acc_wait_all() bind(c)
    end subroutine
    subroutine acc_wait_all_device(dev_num) bind(c)
      import
      integer(c_int), value :: dev_num
    end subroutine
    function acc_wait_any(count, wait_arg) bind(c)
      import
      integer(c_int), value :: count
      integer(c_int) :: wait_arg(*)
      integer(c_int) :: acc_wait_any
    end function
    function acc_wait_any_device(count, wait_arg, dev_num) bind(c)
      import
      integer(c_int), value :: count, dev_num
      integer(c_int) :: wait_arg(*)
      integer(c_int) :: acc_wait_any_device
    end function
    subroutine acc_wait_async(wait_arg, async_arg) bind(c)
      import
      integer(c_int), value :: wait_arg, async_arg
    end subroutine
    subroutine acc_wait_device_async(wait_arg, async_arg, dev_num) bind(c)
      import
      integer(c_int), value :: wait_arg, async_arg, dev_num
    end subroutine
    subroutine acc_wait_all_async(async_arg) bind(c)
      import
      integer(c_int), value :: async_arg
    end subroutine
    subroutine acc_wait_all_device_async(async_arg, dev_num) bind(c)
      import
      integer(c_int), value :: async_arg, dev_num
    end subroutine
    subroutine acc_async_wait(wait_arg) bind(c)
      import
      integer(c_int), value :: wait_arg
    end subroutine
    subroutine acc_async_wait_all() bind(c)
    end subroutine
    function acc_get_default_async() bind(c)
      import
      integer(c_int) :: acc_get_default_async
    end function
    subroutine acc_set_default_async(async_arg) bind(c)
      import
      integer(c_int), value :: async_arg
    end subroutine
    function acc_get_cuda_stream(async_arg) bind(c)
      import
      integer(c_int), value :: async_arg
      type(c_ptr) :: acc_get_cuda_stream
    end function
    function acc_set_cuda_stream(async_arg, stream) bind(c)
      import
      integer(c_int), value :: async_arg
      type(c_ptr), value :: stream
      integer(c_int) :: acc_set_cuda_stream
    end function
    function c_malloc(bytes) bind(c, name="acc_malloc")
      import
      integer(c_size_t), value :: bytes
      type(c_ptr) :: c_malloc
    end function
    subroutine acc_free(data_dev) bind(c)
      import
      type(c_ptr), value :: data_dev
    end subroutine
    subroutine c_map_data(data, data_dev, bytes) bind(c, name="acc_map_data")
      import
      type(c_ptr), value :: data, data_dev
      integer(c_size_t), value :: bytes
    end subroutine
    subroutine c_unmap_data(data) bind(c, name="acc_unmap_data")
      import
      type(c_ptr), value :: data
    end subroutine
    function c_use_device(where, name, data) bind(c, name="acc2omp_use_device")
      import
      type(c_ptr), value :: where, name, data
      type(c_ptr) :: c_use_device
    end function
    function c_deviceptr(data) bind(c, name="acc_deviceptr")
      import
      type(c_ptr), value :: data
      type(c_ptr) :: c_deviceptr
    end function
    function acc_hostptr(data_dev) bind(c)
      import
      type(c_ptr), value :: data_dev
      type(c_ptr) :: acc_hostptr
    end function
    function c_is_present(data, bytes) bind(c, name="acc_is_present")
      import
      type(c_ptr), value :: data
      integer(c_size_t), value :: bytes
      integer(c_int) :: c_is_present
    end function
    subroutine c_memcpy_d2d(to, from, bytes, to_device, from_device, queue) bind(c, name="acc_memcpy_d2d_async")
      import
      integer(c_int), value :: to_device, from_device, queue
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
    end subroutine
  end interface

  interface acc_present_or_copyin
    procedure acc_copyin
  end interface
  interface acc_pcopyin
    procedure acc_copyin
  end interface
  interface acc_present_or_create
    procedure acc_create
  end interface
  interface acc_pcreate
    procedure acc_create
  end interface

contains

  function acc2omp_size(data, dim)
    type(*), intent(in), optional :: data(..)
    integer, intent(in) :: dim
    integer(c_long) :: acc2omp_size
    acc2omp_size = 0
    if (present(data)) acc2omp_size = size(data, dim, c_long)
  end function

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

  ! An integer of whatever kind.
  integer(c_size_t) function number(value)
    class(*), intent(in) :: value
    select type (value)
    type is (integer(c_int))
      number = int(value, c_size_t)
    type is (integer(c_int64_t))
      number = int(value, c_size_t)
    class default
      error stop "acc2omp: a length or queue is neither integer(4) nor integer(8)"
    end select
  end function

  ! Where data begins; NULL for nothing.
  function address(data)
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(data)) address = c_loc(data)
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
    if (bytes > 0 .and. .not. is_contiguous(data)) call stop_at(name)
    first = c_loc(data)
  end subroutine

  ! Where data begins, and its length: as much as is asked for, or all of it.
  subroutine part(data, bytes, first, length)
    type(*), dimension(..), target, optional :: data
    class(*), intent(in), optional :: bytes
    type(c_ptr), intent(out) :: first
    integer(c_size_t), intent(out) :: length
    if (present(bytes)) then
      first = address(data)
      length = number(bytes)
    else
      call place(kept("data"), data, first, length)
    end if
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
  function acc2omp_device(where, name, data, wanted, if_present) result(there)
    character(*), intent(in) :: where, name
    type(*), dimension(..), target :: data
    logical, optional, intent(in) :: wanted, if_present
    type(c_ptr) :: there
    integer(c_size_t) :: bytes
    call place(kept(name), data, there, bytes)
    if (bytes == 0) return
    if (present(wanted)) then
      if (.not. wanted) return
    end if
    if (present(if_present)) then
      if (if_present .and. c_is_present(there, 1_c_size_t) == 0) return
    end if
    there = c_use_device(kept(where), kept(name), there)
  end function

  subroutine acc2omp_begin(where, queue)
    character(*), intent(in) :: where
    integer, optional, intent(in) :: queue
    call c_begin(kept(where), chosen(queue))
  end subroutine

  ! Data of a structured region.
  subroutine structured(routine, name, data)
    procedure(in_region) :: routine
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (c_associated(first)) there = routine(text, first, bytes)
  end subroutine

  subroutine acc2omp_copy(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_copy, name, data)
  end subroutine

  subroutine acc2omp_copyin(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_copyin, name, data)
  end subroutine

  subroutine acc2omp_copyout(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_copyout, name, data)
  end subroutine

  subroutine acc2omp_copyout_zero(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_copyout_zero, name, data)
  end subroutine

  subroutine acc2omp_create(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_create, name, data)
  end subroutine

  subroutine acc2omp_create_zero(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_create_zero, name, data)
  end subroutine

  subroutine acc2omp_present(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_present, name, data)
  end subroutine

  subroutine acc2omp_no_create(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    call structured(c_no_create, name, data)
  end subroutine

  ! Data that is brought, until it is taken away.
  subroutine entered(routine, name, data, queue)
    procedure(bringing) :: routine
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: bytes
    call place(kept(name), data, first, bytes)
    if (c_associated(first)) there = routine(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_enter_copyin(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    call entered(c_enter_copyin, name, data, queue)
  end subroutine

  subroutine acc2omp_check_size(name, bits, bytes)
    character(*), intent(in) :: name
    integer, intent(in) :: bits, bytes
    if (bits /= 8 * bytes) error stop "acc2omp: objects of type "//name//" have another size in C++"
  end subroutine

  function acc2omp_object(address, bytes) result(memory)
    integer(c_intptr_t), intent(in) :: address
    integer, intent(in) :: bytes
    integer(c_signed_char), pointer :: memory(:)
    nullify(memory)
    if (address /= 0) call c_f_pointer(transfer(address, c_null_ptr), memory, [bytes])
  end function

  ! A variable that is present from now on, whatever counts it.
  subroutine declared(name, data, copies)
    character(*), intent(in) :: name
    type(*), dimension(..), target :: data
    integer(c_int), intent(in) :: copies
    type(c_ptr) :: first
    integer(c_size_t) :: bytes
    call place(kept(name), data, first, bytes)
    if (c_associated(first)) call c_declare(first, bytes, c_null_funptr, copies)
  end subroutine

  subroutine acc2omp_declare_create(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target :: data
    call declared(name, data, 0)
  end subroutine

  subroutine acc2omp_declare_copyin(name, data)
    character(*), intent(in) :: name
    type(*), dimension(..), target :: data
    call declared(name, data, 1)
  end subroutine

  subroutine acc2omp_enter_create(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    call entered(c_enter_create, name, data, queue)
  end subroutine

  subroutine acc2omp_enter_create_zero(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: text, first, there
    integer(c_size_t) :: bytes
    text = kept(name)
    call place(text, data, first, bytes)
    if (c_associated(first)) there = c_enter_create_zero(text, first, bytes, chosen(queue))
  end subroutine

  ! Data that is taken away or updated.
  subroutine moved(routine, name, data, queue)
    procedure(moving) :: routine
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: bytes
    call place(kept(name), data, first, bytes)
    if (bytes > 0) call routine(first, bytes, chosen(queue))
  end subroutine

  subroutine acc2omp_exit_copyout(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    call moved(c_exit_copyout, name, data, queue)
  end subroutine

  subroutine acc2omp_exit_copyout_finalize(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    call moved(c_exit_copyout_finalize, name, data, queue)
  end subroutine

  subroutine acc2omp_exit_delete(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    call moved(c_exit_delete, name, data, queue)
  end subroutine

  subroutine acc2omp_exit_delete_finalize(name, data, queue)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    call moved(c_exit_delete_finalize, name, data, queue)
  end subroutine

  ! Whether only data that is present is to be updated, and this is not.
  logical function is_passed_over(data, if_present)
    type(*), dimension(..), target, optional :: data
    logical, optional, intent(in) :: if_present
    is_passed_over = .false.
    if (.not. present(if_present) .or. .not. present(data)) return
    if (if_present) is_passed_over = c_is_present(c_loc(data), 1_c_size_t) == 0
  end function

  subroutine acc2omp_update_self(name, data, queue, if_present)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    logical, optional, intent(in) :: if_present
    if (is_passed_over(data, if_present)) return
    if (is_one_piece(data)) then
      call moved(c_update_self, name, data, queue)
    else
      call c_update(kept(name), data, rank(data), extents_of(data), 0_c_int, chosen(queue))
    end if
  end subroutine

  subroutine acc2omp_update_device(name, data, queue, if_present)
    character(*), intent(in) :: name
    type(*), dimension(..), target, optional :: data
    integer, optional, intent(in) :: queue
    logical, optional, intent(in) :: if_present
    if (is_passed_over(data, if_present)) return
    if (is_one_piece(data)) then
      call moved(c_update_device, name, data, queue)
    else
      call c_update(kept(name), data, rank(data), extents_of(data), 1_c_int, chosen(queue))
    end if
  end subroutine

  ! OpenACC's own routines. Their lengths are integers of any kind; without one, it is all of the data. Of those with a queue,
  ! the queue is the last argument, and the second if there is no length.

  integer(c_int) function queue_of(bytes, async_arg)
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      queue_of = async_arg
    else if (present(bytes)) then
      queue_of = int(number(bytes), c_int)
    else
      error stop "acc2omp: a routine for a queue is called without one"
    end if
  end function

  subroutine bring(routine, data_arg, bytes, queue)
    procedure(bringing) :: routine
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first, there
    integer(c_size_t) :: length
    call part(data_arg, bytes, first, length)
    if (length > 0) there = routine(first, length, queue)
  end subroutine

  subroutine move(routine, data_arg, bytes, queue)
    procedure(moving) :: routine
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in) :: queue
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call part(data_arg, bytes, first, length)
    if (length > 0) call routine(first, length, queue)
  end subroutine

  subroutine acc_copyin(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call bring(c_enter_copyin, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_copyin_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call bring(c_enter_copyin, data_arg, bytes, async_arg)
    else
      call bring(c_enter_copyin, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  subroutine acc_create(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call bring(c_enter_create, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_create_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call bring(c_enter_create, data_arg, bytes, async_arg)
    else
      call bring(c_enter_create, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  subroutine acc_copyout(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call move(c_exit_copyout, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_copyout_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call move(c_exit_copyout, data_arg, bytes, async_arg)
    else
      call move(c_exit_copyout, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  subroutine acc_copyout_finalize(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call move(c_exit_copyout_finalize, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_copyout_finalize_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call move(c_exit_copyout_finalize, data_arg, bytes, async_arg)
    else
      call move(c_exit_copyout_finalize, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  subroutine acc_delete(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call move(c_exit_delete, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_delete_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call move(c_exit_delete, data_arg, bytes, async_arg)
    else
      call move(c_exit_delete, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  subroutine acc_delete_finalize(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call move(c_exit_delete_finalize, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_delete_finalize_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call move(c_exit_delete_finalize, data_arg, bytes, async_arg)
    else
      call move(c_exit_delete_finalize, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  subroutine acc_update_device(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call move(c_update_device, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_update_device_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call move(c_update_device, data_arg, bytes, async_arg)
    else
      call move(c_update_device, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  subroutine acc_update_self(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    call move(c_update_self, data_arg, bytes, acc_async_sync)
  end subroutine

  subroutine acc_update_self_async(data_arg, bytes, async_arg)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    integer(c_int), intent(in), optional :: async_arg
    if (present(async_arg)) then
      call move(c_update_self, data_arg, bytes, async_arg)
    else
      call move(c_update_self, data_arg, queue=queue_of(bytes))
    end if
  end subroutine

  logical function acc_is_present(data_arg, bytes)
    type(*), dimension(..), target :: data_arg
    class(*), intent(in), optional :: bytes
    type(c_ptr) :: first
    integer(c_size_t) :: length
    call part(data_arg, bytes, first, length)
    acc_is_present = c_is_present(first, length) /= 0
  end function

  type(c_ptr) function acc_malloc(bytes)
    class(*), intent(in) :: bytes
    acc_malloc = c_malloc(number(bytes))
  end function

  subroutine acc_map_data(data_arg, data_dev, bytes)
    type(*), dimension(..), target :: data_arg
    type(c_ptr), intent(in) :: data_dev
    class(*), intent(in) :: bytes
    call c_map_data(address(data_arg), data_dev, number(bytes))
  end subroutine

  subroutine acc_unmap_data(data_arg)
    type(*), dimension(..), target :: data_arg
    call c_unmap_data(address(data_arg))
  end subroutine

  type(c_ptr) function acc_deviceptr(data_arg)
    type(*), dimension(..), target :: data_arg
    acc_deviceptr = c_deviceptr(address(data_arg))
  end function

  subroutine copied(routine, to, from, bytes, queue)
    procedure(copying) :: routine
    type(c_ptr), intent(in) :: to, from
    class(*), intent(in) :: bytes
    integer(c_int), intent(in) :: queue
    call routine(to, from, number(bytes), queue)
  end subroutine

  subroutine acc_memcpy_to_device(data_dev_dest, data_host_src, bytes)
    type(c_ptr), intent(in) :: data_dev_dest
    type(*), dimension(..), target :: data_host_src
    class(*), intent(in) :: bytes
    call copied(c_memcpy_to_device, data_dev_dest, address(data_host_src), bytes, acc_async_sync)
  end subroutine

  subroutine acc_memcpy_to_device_async(data_dev_dest, data_host_src, bytes, async_arg)
    type(c_ptr), intent(in) :: data_dev_dest
    type(*), dimension(..), target :: data_host_src
    class(*), intent(in) :: bytes
    integer(c_int), intent(in) :: async_arg
    call copied(c_memcpy_to_device, data_dev_dest, address(data_host_src), bytes, async_arg)
  end subroutine

  subroutine acc_memcpy_from_device(data_host_dest, data_dev_src, bytes)
    type(*), dimension(..), target :: data_host_dest
    type(c_ptr), intent(in) :: data_dev_src
    class(*), intent(in) :: bytes
    call copied(c_memcpy_from_device, address(data_host_dest), data_dev_src, bytes, acc_async_sync)
  end subroutine

  subroutine acc_memcpy_from_device_async(data_host_dest, data_dev_src, bytes, async_arg)
    type(*), dimension(..), target :: data_host_dest
    type(c_ptr), intent(in) :: data_dev_src
    class(*), intent(in) :: bytes
    integer(c_int), intent(in) :: async_arg
    call copied(c_memcpy_from_device, address(data_host_dest), data_dev_src, bytes, async_arg)
  end subroutine

  subroutine acc_memcpy_device(data_dev_dest, data_dev_src, bytes)
    type(c_ptr), intent(in) :: data_dev_dest
    type(c_ptr), intent(in) :: data_dev_src
    class(*), intent(in) :: bytes
    call copied(c_memcpy_device, data_dev_dest, data_dev_src, bytes, acc_async_sync)
  end subroutine

  subroutine acc_memcpy_device_async(data_dev_dest, data_dev_src, bytes, async_arg)
    type(c_ptr), intent(in) :: data_dev_dest
    type(c_ptr), intent(in) :: data_dev_src
    class(*), intent(in) :: bytes
    integer(c_int), intent(in) :: async_arg
    call copied(c_memcpy_device, data_dev_dest, data_dev_src, bytes, async_arg)
  end subroutine

  subroutine acc_memcpy_d2d(data_arg_dest, data_arg_src, bytes, dev_num_dest, dev_num_src)
    type(*), dimension(..), target :: data_arg_dest, data_arg_src
    class(*), intent(in) :: bytes
    integer(c_int), intent(in) :: dev_num_dest, dev_num_src
    call c_memcpy_d2d(address(data_arg_dest), address(data_arg_src), number(bytes), dev_num_dest, dev_num_src, &
        acc_async_sync)
  end subroutine

  subroutine acc_memcpy_d2d_async(data_arg_dest, data_arg_src, bytes, dev_num_dest, dev_num_src, async_arg)
    type(*), dimension(..), target :: data_arg_dest, data_arg_src
    class(*), intent(in) :: bytes
    integer(c_int), intent(in) :: dev_num_dest, dev_num_src, async_arg
    call c_memcpy_d2d(address(data_arg_dest), address(data_arg_src), number(bytes), dev_num_dest, dev_num_src, &
        async_arg)
  end subroutine

  ! A kernel gets what a pointer leads to as an argument of its own, so that there is nothing to attach.

  subroutine acc_attach(ptr_addr)
    type(*), dimension(..) :: ptr_addr
  end subroutine

  subroutine acc_attach_async(ptr_addr, async_arg)
    type(*), dimension(..) :: ptr_addr
    integer(c_int), intent(in) :: async_arg
  end subroutine

  subroutine acc_detach(ptr_addr)
    type(*), dimension(..) :: ptr_addr
  end subroutine

  subroutine acc_detach_async(ptr_addr, async_arg)
    type(*), dimension(..) :: ptr_addr
    integer(c_int), intent(in) :: async_arg
  end subroutine

  subroutine acc_detach_finalize(ptr_addr)
    type(*), dimension(..) :: ptr_addr
  end subroutine

  subroutine acc_detach_finalize_async(ptr_addr, async_arg)
    type(*), dimension(..) :: ptr_addr
    integer(c_int), intent(in) :: async_arg
  end subroutine

  subroutine acc_get_property_string(dev_num, dev_type, property, string)
    integer(c_int), intent(in) :: dev_num, dev_type, property
    character(*), intent(out) :: string
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: first
    integer :: at
    string = ""
    first = c_get_property_string(dev_num, dev_type, property)
    if (.not. c_associated(first)) return
    call c_f_pointer(first, text, [len(string)])
    do at = 1, len(string)
      if (text(at) == c_null_char) return
      string(at:at) = text(at)
    end do
  end subroutine

  logical function acc_on_device(dev_type)
    integer(c_int), intent(in) :: dev_type
    acc_on_device = c_on_device(dev_type) /= 0
  end function

  logical function acc_async_test(wait_arg)
    integer(c_int), intent(in) :: wait_arg
    acc_async_test = c_async_test(wait_arg) /= 0
  end function

  logical function acc_async_test_device(wait_arg, dev_num)
    integer(c_int), intent(in) :: wait_arg, dev_num
    acc_async_test_device = c_async_test_device(wait_arg, dev_num) /= 0
  end function

  logical function acc_async_test_all()
    acc_async_test_all = c_async_test_all() /= 0
  end function

  logical function acc_async_test_all_device(dev_num)
    integer(c_int), intent(in) :: dev_num
    acc_async_test_all_device = c_async_test_all_device(dev_num) /= 0
  end function
end module acc2omp_cuda
