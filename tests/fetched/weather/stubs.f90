! What miniWeather needs of MPI and of a library for files, for one process: what it sends it receives itself, and
! what it writes are sums.
module mpi
  implicit none
  integer, parameter :: mpi_real8 = 8, mpi_comm_world = 0, mpi_status_size = 1, mpi_sum = 0, mpi_info_null = 0
  integer, parameter :: mpi_offset_kind = 8
  type buffer
    real(8), pointer :: at(:,:,:) => null()
  end type
  type(buffer), private :: received(0:1)
contains
  subroutine mpi_init(ierr)
    integer, intent(out) :: ierr
    ierr = 0
  end subroutine
  subroutine mpi_finalize(ierr)
    integer, intent(out) :: ierr
    ierr = 0
  end subroutine
  subroutine mpi_barrier(comm, ierr)
    integer, intent(in) :: comm
    integer, intent(out) :: ierr
    ierr = comm
  end subroutine
  subroutine mpi_comm_size(comm, n, ierr)
    integer, intent(in) :: comm
    integer, intent(out) :: n, ierr
    ierr = comm
    n = 1
  end subroutine
  subroutine mpi_comm_rank(comm, n, ierr)
    integer, intent(in) :: comm
    integer, intent(out) :: n, ierr
    ierr = comm
    n = 0
  end subroutine
  subroutine mpi_irecv(a, n, type, rank, tag, comm, request, ierr)
    real(8), target, intent(inout) :: a(:,:,:)
    integer, intent(in) :: n, type, rank, tag, comm
    integer, intent(out) :: request, ierr
    received(tag)%at => a
    request = 0
    ierr = 0
  end subroutine
  subroutine mpi_isend(a, n, type, rank, tag, comm, request, ierr)
    real(8), intent(in) :: a(:,:,:)
    integer, intent(in) :: n, type, rank, tag, comm
    integer, intent(out) :: request, ierr
    received(tag)%at = a
    request = 0
    ierr = 0
  end subroutine
  subroutine mpi_waitall(n, requests, status, ierr)
    integer, intent(in) :: n, requests(n)
    integer, intent(inout) :: status(:,:)
    integer, intent(out) :: ierr
    ierr = 0
  end subroutine
  subroutine mpi_allreduce(a, b, n, type, op, comm, ierr)
    real(8), intent(in) :: a(:)
    real(8), intent(out) :: b(:)
    integer, intent(in) :: n, type, op, comm
    integer, intent(out) :: ierr
    b = a
    ierr = 0
  end subroutine
end module

module pnetcdf
  implicit none
  integer, parameter :: nf_noerr = 0, nf90_clobber = 0, nf90_write = 1, nf90_double = 8, nf90_real = 4
  integer(8), parameter :: nf90_unlimited = 0
contains
  integer function nf90mpi_create(comm, name, mode, info, id) result(status)
    integer, intent(in) :: comm, mode, info
    character(*), intent(in) :: name
    integer, intent(out) :: id
    id = 1
    status = nf_noerr
  end function
  integer function nfmpi_open(comm, name, mode, info, id) result(status)
    integer, intent(in) :: comm, mode, info
    character(*), intent(in) :: name
    integer, intent(out) :: id
    id = 1
    status = nf_noerr
  end function
  integer function nfmpi_def_dim(id, name, length, dimension) result(status)
    integer, intent(in) :: id
    character(*), intent(in) :: name
    integer(8), intent(in) :: length
    integer, intent(out) :: dimension
    dimension = 0
    status = nf_noerr
  end function
  integer function nfmpi_def_var(id, name, type, rank, dimensions, own) result(status)
    integer, intent(in) :: id, type, rank, dimensions(:)
    character(*), intent(in) :: name
    integer, intent(out) :: own
    own = iachar(name(1:1))
    status = nf_noerr
  end function
  integer function nfmpi_inq_varid(id, name, own) result(status)
    integer, intent(in) :: id
    character(*), intent(in) :: name
    integer, intent(out) :: own
    own = iachar(name(1:1))
    status = nf_noerr
  end function
  integer function nfmpi_enddef(id) result(status)
    integer, intent(in) :: id
    status = nf_noerr
  end function
  integer function nf90mpi_close(id) result(status)
    integer, intent(in) :: id
    status = nf_noerr
  end function
  integer function nfmpi_begin_indep_data(id) result(status)
    integer, intent(in) :: id
    status = nf_noerr
  end function
  integer function nfmpi_end_indep_data(id) result(status)
    integer, intent(in) :: id
    status = nf_noerr
  end function
  integer function nfmpi_put_vara_double(id, own, start, count, a) result(status)
    integer, intent(in) :: id, own
    integer(8), intent(in) :: start(:), count(:)
    real(8), intent(in) :: a(:)
    print '(a, es25.16)', achar(own), a(1)
    status = nf_noerr
  end function
  integer function nfmpi_put_vara_double_all(id, own, start, count, a) result(status)
    integer, intent(in) :: id, own
    integer(8), intent(in) :: start(:), count(:)
    real(8), intent(in) :: a(:,:)
    real(8) :: weighted
    integer :: i, k
    weighted = 0
    do k = 1, size(a, 2)
      do i = 1, size(a, 1)
        weighted = weighted + a(i, k) * (i + 3 * k)
      end do
    end do
    print '(a, 3es25.16)', achar(own), sum(a), sum(abs(a)), weighted
    status = nf_noerr
  end function
  character(16) function nf90mpi_strerror(status)
    integer, intent(in) :: status
    nf90mpi_strerror = 'an error'
  end function
end module
