# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Mehrotra's predictor-corrector method for one linear program of a handful of rows and columns, compiled.

    max  goal·w − charge·|w|
    hinge rows   K x + ξ ≥ r,  ξ ≥ 0        one ξ per slack, which neighbouring rows may share
    hard rows    K x ≥ r                    the last ones
    budgets      γ·|w| ≤ norm,  lin·x + s·ξ ≤ loss         (mode 2)
                 γ·|w| + C (lin·x + s·ξ) ≤ norm            (mode 1: one budget, λ = C ν)
    or           min γ·|w| + C (lin·x + s·ξ)               (mode 0: no budget, ν = 1, λ = C)

with ``x = (w, b)``: d weights and p free offsets. The primal variables that must be positive, P, and their dual
variables, Z, are kept in two vectors of the same order:

    w⁺ · z⁺     z⁺ = ν γ + charge − y,   y = goal + Kᵀα − λ lin
    w⁻ · z⁻     z⁻ = ν γ + charge + y
    ξ  · t      t  = λ s − (sum of α over the rows of the slack)
    e  · α      e  = K x + ξ − r
    norm left · ν,   loss left · λ           (modes 2 and 1)

Eliminating all steps but those of x leaves the matrix ``Kᵀ 𝔻 K + Θ⁻¹`` of the size of x (tall), or ``𝔻⁻¹ + K Θ Kᵀ`` of
the number of rows (wide), bordered by the two budgets. ``𝔻⁻¹ = diag(e/α) + (ξ/t) 1 1ᵀ`` per slack. Sums of the border
are written without differences of nearly equal terms: else a loss budget of next to nothing is lost in rounding.
"""
from libc.math cimport fabs, sqrt, INFINITY, isfinite
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dsyrk, dgemv, dgemm, ddot
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs
import numpy as np

cdef char* LOWER = b'L'
cdef char* NORMAL = b'N'
cdef char* TRANSPOSED = b'T'
cdef int ONE = 1
cdef double PLUS = 1.0, MINUS = -1.0, ZERO = 0.0
# Fraction of the way to the border, at least and at most; limit of the second-order terms, in mean complementarities.
cdef double FRACTION = 0.99, MOST = 0.99995, CLIP = 1.5
# Iterations without a tenth less complementarity after which no more is to be had.
cdef int STALLED = 6
# Least dual variable of the norm budget that complementarity is set by at the start.
cdef double LEAST_NU = 0.1


cdef struct Problem:
    int n, D, d, n_hinge, n_slacks, mode
    const double* K
    const double* r
    const int* start        # first row of every slack, and n_hinge
    const double* s
    const double* lin
    const double* gamma
    const double* goal
    const double* charge
    double norm, loss, C


cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double smaller(double a, double b) noexcept nogil:
    return a if a < b else b


cdef double steepest(int N, const double* step, const double* inverse) noexcept nogil:
    """Greatest decrease of a variable, as a multiple of its value; four at a time, for the processor's sake."""
    cdef double a = 0, b = 0, c = 0, d = 0
    cdef int k
    for k in range(0, N - 3, 4):
        a = smaller(a, step[k]*inverse[k])
        b = smaller(b, step[k + 1]*inverse[k + 1])
        c = smaller(c, step[k + 2]*inverse[k + 2])
        d = smaller(d, step[k + 3]*inverse[k + 3])
    for k in range(N - N % 4, N): a = smaller(a, step[k]*inverse[k])
    return -smaller(smaller(a, b), smaller(c, d))


cdef void times(const double* K, int n, int D, const double* x, double scale, double* out) noexcept nogil:
    """out += scale · K x."""
    dgemv(TRANSPOSED, &D, &n, &scale, <double*>K, &D, <double*>x, &ONE, &PLUS, out, &ONE)


cdef void transposed_times(const double* K, int n, int D, const double* a, double* out) noexcept nogil:
    """out += Kᵀ a."""
    dgemv(NORMAL, &D, &n, &PLUS, <double*>K, &D, <double*>a, &ONE, &PLUS, out, &ONE)


cdef void curvature(const Problem* q, const double* a, const double* t_xi, double* KD, double* T,
                    double* M) noexcept nogil:
    """M = Kᵀ 𝔻 K, by rows of 𝔻's Cholesky factor times K.

    ``𝔻 = diag(a) − a aᵀ / S`` per slack, with ``S = t/ξ + Σ a``; eliminating its rows from the first to the last leaves
    matrices of the same form with the sum of the rows that are left, so no difference is ever taken.
    """
    cdef int g, i, j, D = q.D, n = q.n
    cdef double rest, root, inverse
    cdef const double* row
    cdef double* out
    for g in range(q.n_slacks):
        rest = t_xi[g]
        if q.start[g + 1] - q.start[g] == 1:
            i = q.start[g]
            row, out = q.K + i*D, KD + i*D
            root = sqrt(a[i]*rest/(rest + a[i]))
            for j in range(D): out[j] = root*row[j]
            continue
        memset(T, 0, D*sizeof(double))
        for i in range(q.start[g + 1] - 1, q.start[g] - 1, -1):
            row, out = q.K + i*D, KD + i*D
            root = sqrt(a[i]*rest/(rest + a[i]))
            inverse = 1/rest
            for j in range(D):
                out[j] = root*(row[j] - T[j]*inverse)
                T[j] += a[i]*row[j]
            rest += a[i]
    for i in range(q.n_hinge, n):
        row, out = q.K + i*D, KD + i*D
        root = sqrt(a[i])
        for j in range(D): out[j] = root*row[j]
    dsyrk(LOWER, NORMAL, &D, &n, &PLUS, KD, &D, &ZERO, M, &D)


cdef void inverse_times(const Problem* q, const double* a, const double* rest, const double* S, const double* h,
                        double* out) noexcept nogil:
    """out = 𝔻 h, with ``rest = t/ξ`` and ``S = rest + Σ a`` per slack."""
    cdef int g, i, k
    cdef double total
    for g in range(q.n_slacks):
        if q.start[g + 1] - q.start[g] == 1:
            i = q.start[g]
            out[i] = a[i]*h[i]*rest[g]/S[g]
            continue
        for i in range(q.start[g], q.start[g + 1]):
            total = h[i]*rest[g]
            for k in range(q.start[g], q.start[g + 1]): total += a[k]*(h[i] - h[k])
            out[i] = a[i]*total/S[g]
    for i in range(q.n_hinge, q.n): out[i] = a[i]*h[i]


cdef void begin(const Problem* q, const double* x, double lam, double nu, double inside, double scale, double band,
                double* P, double* Z, double* m, double* y) noexcept nogil:
    """Positive variables near a point x and multipliers λ, ν, of about equal complementarity per kind."""
    cdef int i, j, g, d = q.d
    cdef double *xi = P + 2*d, *e = xi + q.n_slacks, *t = Z + 2*d, *alpha = t + q.n_slacks
    cdef double total = 0, spread, tau, top, cost, left = q.loss, room = q.norm
    for j in range(d): total += q.gamma[j]
    spread = inside*scale/larger(total, 1e-300)
    tau = larger(nu, LEAST_NU)*total/larger(d, 1)*spread
    for j in range(d):
        P[j] = larger(x[j], 0) + spread
        P[d + j] = larger(-x[j], 0) + spread
        room -= q.gamma[j]*(P[j] + P[d + j])
    for i in range(q.n): m[i] = -q.r[i]
    times(q.K, q.n, q.D, x, 1, m)
    for g in range(q.n_slacks):
        top = -INFINITY
        for i in range(q.start[g], q.start[g + 1]): top = larger(top, -m[i])
        xi[g] = .5*(.3*band + sqrt(top*top + .09*band*band)) + .5*top
        cost = 1/xi[g]
        for i in range(q.start[g], q.start[g + 1]):
            e[i] = xi[g] + m[i]
            cost += 1/e[i]
        for i in range(q.start[g], q.start[g + 1]): alpha[i] = larger(lam*q.s[g]/(e[i]*cost), .02*lam*q.s[g])
        t[g] = larger(lam*q.s[g]/(xi[g]*cost), .02*lam*q.s[g])
        left -= q.s[g]*xi[g]
    for i in range(q.n_hinge, q.n):
        e[i] = larger(m[i], .3*band)
        alpha[i] = tau/e[i]
    for j in range(q.D):
        left -= q.lin[j]*x[j]
        y[j] = -lam*q.lin[j] + (q.goal[j] if j < d else 0)
    transposed_times(q.K, q.n, q.D, alpha, y)
    for j in range(d):
        Z[j] = larger(nu*q.gamma[j] + q.charge[j] - y[j], tau/P[j])
        Z[d + j] = larger(nu*q.gamma[j] + q.charge[j] + y[j], tau/P[d + j])
    if q.mode == 1: room -= q.C*(q.loss - left)
    if q.mode > 0:
        P[2*d + q.n_slacks + q.n] = larger(room, inside*scale)
        Z[2*d + q.n_slacks + q.n] = nu
    if q.mode > 1:
        P[2*d + q.n_slacks + q.n + 1] = larger(left, .3*inside*fabs(q.loss) + 1e-12)
        Z[2*d + q.n_slacks + q.n + 1] = lam


cdef int iterate(const Problem* q, double* P, double* Z, double* x, double tol, double scale, double beat, int most,
                 double* gapp, double* W) noexcept nogil:
    """Follow the central path; return the number of iterations, negative if the matrix could not be factored."""
    cdef int n = q.n, D = q.D, d = q.d, p = D - d, ns = q.n_slacks, nh = q.n_hinge, mode = q.mode
    cdef int iw = 2*d, ie = iw + ns, N = ie + n + mode, it, i, j, g, k, phase, info, stall = 0, three = 3, columns
    cdef bint wide = n + p < D
    cdef double *Q = W, *U = Q + N, *R = U + N, *dP = R + N, *dZ = dP + N, *P1 = dZ + N, *Z1 = P1 + N   # 1/P, 1/Z
    cdef double *rp = Z1 + N, *a = rp + n, *h = a + n, *v = h + n, *V = v + n      # V: n x 3
    cdef double *rest = V + 3*n, *S = rest + ns
    cdef double *y = S + ns, *theta = y + D, *kappa = theta + d, *p1 = kappa + d, *p2 = p1 + D, *dx = p2 + D, *T = dx + D
    cdef double *X3 = T + D, *M = X3 + 3*D, *KD = M + (n*n if wide else D*D), *B = KD + n*D, *BB = B + n*p
    cdef double lam, nu, gap = INFINITY, best = INFINITY, rn, rl, c1, c2, mean, res, offsets, value, total
    cdef double R1, R2, a11, a12, a21, a22, b1, b2, det, dl = 0, dn = 0, dlp, sigma = 0, lim, most_p, most_d, frac, sp, sd, after
    cdef double *L = &Z[N - 1], *NU = &Z[ie + n]
    for it in range(most):
        nu = NU[0] if mode else 1
        lam = L[0] if mode == 2 else q.C*nu
        # residuals
        gap = 0
        for k in range(N): gap += P[k]*Z[k]
        for j in range(d): x[j] = P[j] - P[d + j]
        for i in range(n): rp[i] = q.r[i] + P[ie + i]
        times(q.K, n, D, x, -1, rp)
        rl = q.loss
        for g in range(ns):
            R[iw + g] = lam*q.s[g] - Z[iw + g]
            rl -= q.s[g]*P[iw + g]
            for i in range(q.start[g], q.start[g + 1]):
                rp[i] -= P[iw + g]
                R[iw + g] -= Z[ie + i]
        res = 0
        for i in range(n):
            R[ie + i] = 0
            res = larger(res, fabs(rp[i]))
        for j in range(D):
            y[j] = -lam*q.lin[j]
            rl -= q.lin[j]*x[j]
        transposed_times(q.K, n, D, Z + ie, y)
        rn = q.norm
        offsets = res
        value = 0
        for j in range(d):
            y[j] += q.goal[j]
            R[j] = nu*q.gamma[j] + q.charge[j] - y[j] - Z[j]
            R[d + j] = nu*q.gamma[j] + q.charge[j] + y[j] - Z[d + j]
            rn -= q.gamma[j]*(P[j] + P[d + j])
            res = larger(res, scale*larger(fabs(R[j]), fabs(R[d + j])))
            value += q.goal[j]*x[j] - q.charge[j]*(P[j] + P[d + j])
        for j in range(d, D): offsets = larger(offsets, fabs(y[j])/(1 + lam))
        for k in range(ie + n, N): R[k] = 0
        if mode == 1:
            rn += q.C*(rl - q.loss)
            rl = 0
        if mode: rn -= P[ie + n]
        if mode == 2: rl -= P[N - 1]
        if not isfinite(gap): break
        if gap <= tol*scale and it > 1 and offsets < 1e-7 and res < larger(tol, 1e-7)*(1 + scale): break
        if it > 2 and res < 1e-4 and value >= 0 and value + 1.5*gap < .99*beat: break
        if gap < .9*best:
            best = gap
            stall = 0
        else:
            stall += 1
            if stall >= STALLED: break
        # matrix
        mean = gap/N
        for k in range(N):
            P1[k] = 1/P[k]
            Z1[k] = 1/Z[k]
            Q[k] = P[k]*Z1[k]
        c1 = c2 = 0
        for i in range(n): a[i] = Z[ie + i]*P1[ie + i]
        for g in range(ns):
            rest[g] = Z[iw + g]*P1[iw + g]
            S[g] = rest[g]
            for i in range(q.start[g], q.start[g + 1]): S[g] += a[i]
            c1 += q.s[g]*q.s[g]/S[g]
            for i in range(q.start[g], q.start[g + 1]): v[i] = q.s[g]*a[i]/S[g]
        for i in range(nh, n): v[i] = 0
        for j in range(D): p1[j] = -q.lin[j]
        transposed_times(q.K, n, D, v, p1)
        for j in range(d):
            theta[j] = Q[j] + Q[d + j]
            kappa[j] = (Q[j] - Q[d + j])*q.gamma[j]
            p2[j] = kappa[j]/theta[j]
            c2 += 4*q.gamma[j]*q.gamma[j]*Q[j]*Q[d + j]/theta[j]
        for j in range(d, D): p2[j] = 0
        if mode: c2 += Q[ie + n]
        if mode == 2: c1 += Q[N - 1]
        if wide:
            wide_matrix(q, theta, Q, KD, M)
            k = n
        else:
            curvature(q, a, rest, KD, T, M)
            for j in range(D): M[j*D + j] = M[j*D + j]*(1 + 1e-14) + (1/theta[j] if j < d else 0)
            k = D
        dpotrf(LOWER, &k, M, &k, &info)
        if info == 0 and wide and p: info = offsets_matrix(q, M, B, BB)
        if info:
            gapp[0] = INFINITY
            return -it - 1
        for phase in range(2):
            lim = CLIP*mean
            for k in range(N):
                if phase: U[k] = (sigma - larger(smaller(dP[k]*dZ[k], lim), -lim))*Z1[k] - P[k] - Q[k]*R[k]
                else: U[k] = -P[k] - Q[k]*R[k]
            R1 = rl
            R2 = rn
            if mode: R2 -= U[ie + n]
            if mode == 2: R1 -= U[N - 1]
            for g in range(ns):
                R1 -= q.s[g]*U[iw + g]
                for i in range(q.start[g], q.start[g + 1]):
                    h[i] = rp[i] - U[iw + g] + U[ie + i]
                    R1 -= v[i]*h[i]
            for i in range(nh, n): h[i] = rp[i] + U[ie + i]
            for j in range(d):
                dx[j] = U[j] - U[d + j]
                R2 += p2[j]*dx[j] - q.gamma[j]*(U[j] + U[d + j])
            columns = 3 if phase == 0 and mode else 1
            if wide: wide_solve(q, M, B, BB, theta, kappa, Q, h, dx, y, columns, V, X3, T)
            else:
                inverse_times(q, a, rest, S, h, V)
                for j in range(D): X3[j] = dx[j]/theta[j] if j < d else y[j]
                transposed_times(q.K, n, D, V, X3)
                if columns == 3:
                    memcpy(X3 + D, p1, D*sizeof(double))
                    memcpy(X3 + 2*D, p2, D*sizeof(double))
                dpotrs(LOWER, &D, &columns, M, &D, X3, &D, &info)
            # budgets: −p1·dx − c1 dλ = R1, p2·dx − c2 dν = R2
            if mode:
                a11 = c1 + ddot(&D, p1, &ONE, X3 + D, &ONE)
                a12 = ddot(&D, p1, &ONE, X3 + 2*D, &ONE)
                a22 = c2 + ddot(&D, p2, &ONE, X3 + 2*D, &ONE)
                b1 = -R1 - ddot(&D, p1, &ONE, X3, &ONE)
                b2 = -R2 + ddot(&D, p2, &ONE, X3, &ONE)
                if mode == 2:
                    det = a11*a22 - a12*a12
                    dl = (b1*a22 + b2*a12)/det
                    dn = (a11*b2 + a12*b1)/det
                else:
                    dn = (q.C*b1 + b2)/(q.C*q.C*a11 - 2*q.C*a12 + a22)
                    dl = q.C*dn
                for j in range(D): dx[j] = X3[j] + X3[D + j]*dl - X3[2*D + j]*dn
            else: memcpy(dx, X3, D*sizeof(double))
            # back substitution
            if wide:
                memcpy(dZ + ie, V, n*sizeof(double))
                if mode:
                    for i in range(n): dZ[ie + i] += V[n + i]*dl - V[2*n + i]*dn
                for j in range(D): T[j] = -dl*q.lin[j]
                transposed_times(q.K, n, D, dZ + ie, T)
            else:
                times(q.K, n, D, dx, -1, h)
                inverse_times(q, a, rest, S, h, dZ + ie)
                for i in range(nh): dZ[ie + i] += v[i]*dl
                for j in range(d): T[j] = (dx[j] - U[j] + U[d + j] + kappa[j]*dn)/theta[j]
            for j in range(d):
                dZ[j] = R[j] + q.gamma[j]*dn - T[j]
                dZ[d + j] = R[d + j] + q.gamma[j]*dn + T[j]
            for g in range(ns):
                total = R[iw + g] + q.s[g]*dl
                for i in range(q.start[g], q.start[g + 1]): total -= dZ[ie + i]
                dZ[iw + g] = total
            if mode: dZ[ie + n] = dn
            if mode == 2: dZ[N - 1] = dl
            for k in range(N): dP[k] = U[k] + Q[k]*(R[k] - dZ[k])
            most_p = steepest(N, dP, P1)
            most_d = steepest(N, dZ, Z1)
            frac = 1 if phase == 0 else larger(FRACTION, smaller(MOST, 1 - 10*mean/scale))
            sp = smaller(1, frac/larger(most_p, 1e-30))
            sd = smaller(1, frac/larger(most_d, 1e-30))
            if phase == 0:
                after = 0
                for k in range(N): after += (P[k] + sp*dP[k])*(Z[k] + sd*dZ[k])
                after = smaller(larger(after/gap, 0), 1)
                sigma = larger(after*after*after*mean, .1*tol*scale/N)
        for k in range(N):
            P[k] += sp*dP[k]
            Z[k] += sd*dZ[k]
        for j in range(d, D): x[j] += sp*dx[j]
    for j in range(d): x[j] = P[j] - P[d + j]
    gapp[0] = gap
    return it


cdef void wide_matrix(const Problem* q, const double* theta, const double* Q, double* KD, double* M) noexcept nogil:
    """M = K Θ Kᵀ + 𝔻⁻¹."""
    cdef int n = q.n, D = q.D, d = q.d, i, j, g, k, ie = 2*d + q.n_slacks
    for i in range(n):
        for j in range(d): KD[i*d + j] = q.K[i*D + j]*sqrt(theta[j])
    dsyrk(LOWER, TRANSPOSED, &n, &d, &PLUS, KD, &d, &ZERO, M, &n)
    for i in range(n): M[i*n + i] = M[i*n + i]*(1 + 1e-14) + Q[ie + i]
    for g in range(q.n_slacks):
        for i in range(q.start[g], q.start[g + 1]):
            for k in range(i, q.start[g + 1]): M[i*n + k] += Q[2*d + g]


cdef int offsets_matrix(const Problem* q, double* M, double* B, double* BB) noexcept nogil:
    """B = M⁻¹ K_b and the Cholesky factor of BB = K_bᵀ M⁻¹ K_b."""
    cdef int n = q.n, D = q.D, d = q.d, p = D - d, i, j, k, info
    for j in range(p):
        for i in range(n): B[j*n + i] = q.K[i*D + d + j]
    dpotrs(LOWER, &n, &p, M, &n, B, &n, &info)
    for j in range(p):
        for k in range(p):
            BB[j*p + k] = 0
            for i in range(n): BB[j*p + k] += q.K[i*D + d + j]*B[k*n + i]
        BB[j*p + j] *= 1 + 1e-14
    dpotrf(LOWER, &p, BB, &p, &info)
    return info


cdef void wide_solve(const Problem* q, double* M, const double* B, double* BB, const double* theta, const double* kappa,
                     const double* Q, const double* h, const double* a, const double* y, int columns, double* V, double* X,
                     double* T) noexcept nogil:
    """Steps of α (in V) and of x (in X) for the right side, for a unit of dλ and for a unit of −dν."""
    cdef int n = q.n, D = q.D, d = q.d, p = D - d, i, j, k, g, info
    memset(V, 0, columns*n*sizeof(double))
    memset(X, 0, columns*D*sizeof(double))
    for j in range(d):      # X: Θ times what the right side asks of the weights
        X[j] = a[j]
        if columns == 3:
            X[D + j] = -theta[j]*q.lin[j]
            X[2*D + j] = kappa[j]
    memcpy(V, h, n*sizeof(double))
    if columns == 3:
        for g in range(q.n_slacks):
            for i in range(q.start[g], q.start[g + 1]): V[n + i] = q.s[g]*Q[2*d + g]
    for k in range(columns): times(q.K, n, D, X + k*D, -1, V + k*n)
    dpotrs(LOWER, &n, &columns, M, &n, V, &n, &info)
    for k in range(columns):
        if p:
            for j in range(p):
                T[j] = y[d + j] if k == 0 else (-q.lin[d + j] if k == 1 else 0)
                for i in range(n): T[j] += q.K[i*D + d + j]*V[k*n + i]
            dpotrs(LOWER, &p, &ONE, BB, &p, T, &p, &info)
            for j in range(p):
                for i in range(n): V[k*n + i] -= B[j*n + i]*T[j]
                X[k*D + d + j] = T[j]
        memset(T, 0, D*sizeof(double))
        transposed_times(q.K, n, D, V + k*n, T)
        for j in range(d): X[k*D + j] += theta[j]*T[j]


def solve(double[:, ::1] K, double[::1] r, int[::1] start, double[::1] s, double[::1] lin, double[::1] gamma,
          double[::1] goal, double[::1] charge, double norm, double loss, double C, int mode,
          double[::1] x, double lam, double nu, double scale, double inside, double band, double tol, double beat,
          int most):
    """Solve from a point x and multipliers; return x, α, λ, ν, complementarity and iterations (negative: no factor)."""
    cdef Problem q
    cdef int n = K.shape[0], D = K.shape[1], d = gamma.shape[0], ns = s.shape[0], it, least
    cdef int N = 2*d + ns + n + mode
    cdef double gap = INFINITY
    least = n if n + D - d < D else D
    found, pairs = np.array(x), np.empty((2, N))
    work = np.empty(7*N + 7*n + 2*ns + 10*D + 2*d + least*least + n*D + n*(D - d) + (D - d)*(D - d) + 16)
    cdef double[::1] X = found, P = pairs[0], Z = pairs[1], W = work
    q.n, q.D, q.d, q.n_hinge, q.n_slacks, q.mode = n, D, d, start[ns], ns, mode
    q.K, q.r, q.start, q.lin, q.gamma = &K[0, 0], &r[0], &start[0], &lin[0], &gamma[0]
    q.s = &s[0] if ns else NULL
    q.goal, q.charge, q.norm, q.loss, q.C = &goal[0], &charge[0], norm, loss, C
    with nogil:
        begin(&q, &X[0], lam, nu, inside, scale, band, &P[0], &Z[0], &W[0], &W[n])
        it = iterate(&q, &P[0], &Z[0], &X[0], tol, scale, beat, most, &gap, &W[0])
    nu = pairs[1, 2*d + ns + n] if mode else 1.0
    lam = pairs[1, N - 1] if mode == 2 else C*nu
    return found, pairs[1, 2*d + ns:2*d + ns + n], lam, nu, gap, it
