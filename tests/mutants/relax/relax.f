      PROGRAM REDBLK
      IMPLICIT NONE
      INTEGER NX, NY, I, J, IT, NITER
      PARAMETER (NX=34, NY=26, NITER=6)
      DOUBLE PRECISION U(NX,NY), F(NX,NY), R(NX,NY), RES, W
      COMMON /GRID/ U, F
      W = 1.2D0
      DO 10 J = 1, NY
      DO 10 I = 1, NX
        U(I,J) = 0.D0
        F(I,J) = DBLE(MOD(I*J,7))/7.D0
   10 CONTINUE
C     ALL OF IT ON THE DEVICE
!$ACC DATA COPY(U) COPYIN(F) CREATE(R)
      DO 100 IT = 1, NITER
        CALL SWEEP(NX, NY, U, F, W, 0)
        CALL SWEEP(NX, NY, U, F, W, 1)
        RES = 0.D0
!$ACC PARALLEL LOOP COLLAPSE(2) PRESENT(U,F,R)
        DO 20 J = 2, NY-1
          DO 30 I = 2, NX-1
            R(I,J) = F(I,J) - 4.D0*U(I,J) + U(I-1,J) + U(I+1,J)
     &             + U(I,J-1) + U(I,J+1)
   30     CONTINUE
   20   CONTINUE
!$ACC PARALLEL LOOP COLLAPSE(2) PRESENT(R) REDUCTION(+:RES)
        DO J = 2, NY-1
          DO I = 2, NX-1
            RES = RES + R(I,J)*R(I,J)
          END DO
        END DO
!$ACC UPDATE HOST(U(2:NX-1,3))
        WRITE(*,'(I4,2ES22.12)') IT, RES, U(5,3)
        F(4,4) = F(4,4) + 0.5D0
!$ACC UPDATE DEVICE(F(4:4,4:4))
  100 CONTINUE
!$ACC END DATA
      RES = 0.D0
      DO J = 1, NY
        DO I = 1, NX
          RES = RES + U(I,J)*(I+2*J)
        END DO
      END DO
      WRITE(*,'(A,ES22.12)') ' SUM ', RES
      END

      SUBROUTINE SWEEP(NX, NY, U, F, W, K)
      IMPLICIT NONE
      INTEGER NX, NY, K, I, J
      DOUBLE PRECISION U(NX,NY), F(NX,NY), W, T
#ifdef WIDE
!$ACC PARALLEL LOOP GANG VECTOR COLLAPSE(2) PRIVATE(T)
!$ACC& PRESENT(U,F)
#else
!$ACC PARALLEL LOOP PRIVATE(T) PRESENT(U,F)
#endif
      DO J = 2, NY-1
        DO I = 2, NX-1
          IF (MOD(I+J,2) .EQ. K) THEN
            T = 0.25D0*(U(I-1,J)+U(I+1,J)+U(I,J-1)+U(I,J+1)+F(I,J))
            U(I,J) = U(I,J) + W*(T-U(I,J))
          END IF
        END DO
      END DO
      END
