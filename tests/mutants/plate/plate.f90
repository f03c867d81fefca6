! Heat in a plate, in Fortran: data regions, sections, updates, private variables, reductions, queues, a module's procedures.
module plates
  implicit none
  integer, parameter :: wp = kind(1.0d0)
  integer, parameter :: rows = 20, columns = 24
  real(wp), allocatable :: weight(:)
contains
  subroutine begin(plate, edge)
    real(wp), intent(out) :: plate(:, :)
    real(wp), intent(in) :: edge(:)
    integer :: i, j
    do j = 1, size(plate, 2)
      do i = 1, size(plate, 1)
        plate(i, j) = merge(edge(i), 0.01_wp * (i + j), j == 1)
      end do
    end do
  end subroutine begin

  ! One step; both arrays are on the device.
  subroutine step(plate, next, rate, change)
    real(wp), intent(inout) :: plate(:, :), next(:, :)
    real(wp), intent(in) :: rate
    real(wp), intent(out) :: change
    real(wp) :: flow, largest
    integer :: i, j
    !$acc parallel loop gang present(plate, next) private(flow)
    do j = 2, size(plate, 2) - 1
      do i = 2, size(plate, 1) - 1
        flow = plate(i - 1, j) + plate(i + 1, j) + plate(i, j - 1) + plate(i, j + 1)
        next(i, j) = plate(i, j) + rate * (flow - 4 * plate(i, j))
      end do
    end do
    largest = 0
    !$acc parallel loop collapse(2) present(plate, next) reduction(max: largest)
    do j = 2, size(plate, 2) - 1
      do i = 2, size(plate, 1) - 1
        largest = max(largest, abs(next(i, j) - plate(i, j)))
      end do
    end do
    change = largest
    !$acc parallel loop collapse(2) present(plate, next)
    do j = 2, size(plate, 2) - 1
      do i = 2, size(plate, 1) - 1
        plate(i, j) = next(i, j)
      end do
    end do
  end subroutine step

  subroutine mean_of_columns(plate, mean)
    real(wp), intent(in) :: plate(:, :)
    real(wp), intent(out) :: mean(:)
    real(wp) :: total
    integer :: i, j
    !$acc parallel loop present(plate) copyout(mean) private(total)
    do j = 1, size(plate, 2)
      total = 0
      !$acc loop reduction(+: total)
      do i = 1, size(plate, 1)
        total = total + plate(i, j)
      end do
      mean(j) = total / size(plate, 1)
    end do
  end subroutine mean_of_columns
end module plates

program heat
  use plates
  implicit none
  real(wp) :: plate(rows, columns), next(rows, columns), edge(rows), mean(columns), change, total
  integer :: i, turn
  edge = [(1 + 0.5_wp * i, i = 1, rows)]
  call begin(plate, edge)
  next = plate
  allocate(weight(columns))
  weight = [(1 / real(i, wp), i = 1, columns)]
  !$acc enter data copyin(weight)
  !$acc data copy(plate) copyin(next)
  do turn = 1, 6
    call step(plate, next, 0.2_wp, change)
    if (mod(turn, 3) == 0) then
      edge = edge + 0.25_wp
      plate(:, 1) = edge
      !$acc update device(plate(:, 1:1))
      !$acc update self(plate(:, 6:7))
      print '(i0, 2f15.10)', turn, change, plate(4, 6) + plate(8, 7)
    end if
  end do
  call mean_of_columns(plate, mean)
  !$acc parallel loop async(1) copy(mean)
  do i = 1, columns
    mean(i) = 2 * mean(i) + 1
  end do
  !$acc wait(1)
  !$acc end data
  total = 0
  !$acc parallel loop present(weight) copyin(mean) reduction(+: total)
  do i = 1, columns
    total = total + weight(i) * mean(i)
  end do
  !$acc exit data delete(weight)
  print '(3f16.10)', total, plate(rows / 2, columns / 2), mean(3) - mean(20)
end program heat
