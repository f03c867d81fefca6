! The module of the run-time library for Fortran by itself.
program module_test
  use acc2omp_cuda
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 100
  real(8), target :: a(n), b(n), c(n, 4)
  integer :: scalar, i
  integer(8) :: bytes
  type(c_ptr) :: there, other
  character(40) :: name
  logical :: is_right = .true.

  ! Devices.
  call check(acc_get_num_devices(acc_device_nvidia) >= 1, 1)
  call acc_init(acc_device_default)
  call acc_set_device_num(0, acc_device_default)
  call check(acc_get_device_num(acc_device_default) == 0, 2)
  call check(acc_get_property(0, acc_device_default, acc_property_memory) > 0, 3)
  call acc_get_property_string(0, acc_device_default, acc_property_vendor, name)
  call check(len_trim(name) > 0 .and. index(name, char(0)) == 0, 4)
  call check(.not. acc_on_device(acc_device_nvidia), 5)

  ! Data: all of it, a part with either kind of length, and on a queue.
  a = [(i, i = 1, n)]
  bytes = 8 * n
  call acc_copyin(a)
  call check(acc_is_present(a), 6)
  call check(acc_is_present(a, 8 * n) .and. acc_is_present(a(3), bytes - 16), 7)
  call acc_copyin(a, bytes)
  a = 0
  call acc_copyout(a)
  call check(acc_is_present(a) .and. all(a == 0), 8)
  call acc_copyout(a, 8 * n)
  call check(.not. acc_is_present(a) .and. a(n) == n, 9)
  call acc_create_async(b, 1)
  call acc_copyin_async(a, bytes, 1)
  call acc_wait(1)
  call acc_update_self_async(a, async_arg=2)
  call acc_wait_async(2, 3)
  call acc_wait_all_async(4)
  call acc_wait_all()
  call check(acc_async_test(2) .and. acc_async_test_all(), 10)
  call acc_delete_async(b, 1)
  call acc_delete_finalize(a)
  call acc_wait_all()
  call check(.not. acc_is_present(a) .and. .not. acc_is_present(b), 11)
  scalar = 7
  call acc_pcopyin(scalar)
  scalar = 8
  call acc_update_device(scalar)
  scalar = 9
  call acc_update_self(scalar)
  call check(scalar == 8, 12)
  call acc_copyout_finalize(scalar)

  ! A column of an array is one piece; what is not is updated piece by piece.
  c = 1
  call acc_copyin(c)
  call check(acc_is_present(c(:, 2)), 13)
  c = 2
  call acc2omp_update_device("c(3:5, 2:3)", c(3:5, 2:3))
  c = 3
  call acc_update_self(c)
  call check(count(c == 2) == 6 .and. count(c == 1) == size(c) - 6, 14)
  call acc_delete(c)

  ! Memory of the device.
  a = [(i, i = 1, n)]
  there = acc_malloc(bytes)
  other = acc_malloc(8 * n)
  call acc_memcpy_to_device(there, a, bytes)
  call acc_memcpy_device(other, there, 8 * n)
  b = 0
  call acc_memcpy_from_device(b, other, bytes)
  call check(all(b == a), 15)
  call acc_memcpy_to_device_async(other, b(2:n), 8 * n - 8, 1)
  call acc_memcpy_from_device_async(b, other, 8, 1)
  call acc_wait(1)
  call check(b(1) == 2, 16)
  call acc_map_data(b, other, bytes)
  call check(acc_is_present(b) .and. c_associated(acc_deviceptr(b), other), 17)
  call check(c_associated(acc_hostptr(other), c_loc(b)), 18)
  call acc_memcpy_d2d(b, b, 8, 0, 0)
  call acc_unmap_data(b)
  call check(.not. acc_is_present(b), 19)
  call acc_free(there)
  call acc_free(other)
  call acc_attach(a)
  call acc_detach(a)
  call acc_shutdown(acc_device_default)
  print '(a,1x,i0)', 'ok', merge(1, 0, is_right)

contains

  subroutine check(holds, number)
    logical, intent(in) :: holds
    integer, intent(in) :: number
    if (.not. holds) print '(a,1x,i0)', 'wrong:', number
    is_right = is_right .and. holds
  end subroutine
end program
