! What POT3D needs of MPI (`mpi.c`) and of HDF5, for one process: of a file that it would write, sums are printed.
module mpi
  implicit none
  integer, parameter :: mpi_comm_world = 0, mpi_info_null = 0, mpi_comm_type_shared = 1, mpi_thread_funneled = 1
  integer, parameter :: mpi_status_size = 4, mpi_proc_null = -1, mpi_in_place = -987654, mpi_sum = 1
  integer, parameter :: mpi_integer = 4, mpi_real4 = 4, mpi_real8 = 8
  integer :: mpi_statuses_ignore(mpi_status_size, 64), mpi_status_ignore(mpi_status_size)
  real(8), external :: mpi_wtime
end module

subroutine rdhdf_2d(fname, scale, nx, ny, f, x, y, ierr)
  character(*) :: fname
  logical :: scale
  integer :: nx, ny, ierr
  real(8), pointer :: f(:,:), x(:), y(:)
  ierr = 1
end subroutine

subroutine wrhdf_2d(fname, scale, nx, ny, f, x, y, hdf32, ierr)
  character(*) :: fname
  logical :: scale, hdf32
  integer :: nx, ny, ierr
  real(8) :: f(nx, ny), x(nx), y(ny)
  call wrhdf_3d(fname, scale, nx, ny, 1, f, x, y, f, hdf32, ierr)
end subroutine

subroutine wrhdf_3d(fname, scale, nx, ny, nz, f, x, y, z, hdf32, ierr)
  character(*) :: fname
  logical :: scale, hdf32
  integer :: nx, ny, nz, ierr, i, j, k
  real(8) :: f(nx, ny, nz), x(nx), y(ny), z(nz), total, weighted
  total = 0
  weighted = 0
  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        total = total + abs(f(i, j, k))
        weighted = weighted + f(i, j, k) * (i + 3 * j + 7 * k)
      end do
    end do
  end do
  print '(a, 3es25.16)', trim(fname), total, weighted, sum(x) + sum(y)
  ierr = 0
end subroutine
