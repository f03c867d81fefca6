//! What C++ has for words of C, and has for itself.
//!
//! Invariant: a word that stands here, too, has these alternatives in C++; all others are those of C.

use super::Grammar;

pub const GRAMMAR: &Grammar = &[
    (
        "class",
        &[
            "",
            "struct C { int n; double *a, *b, c[9], x;\nvoid m() {\n@locals@block}\n};\n",
            "template <class T>\n",
            "namespace w {\ntemplate <class T, int N> struct D : C { T v[N], *p;\nvoid m(T y) {\nfor (auto &e : v)\n@statement@block}\n};\n}\n",
            "union U { double d; int i[2]; } u;\nenum class V { E = 4, F };\nextern \"C\" { double e(double); }\n",
        ],
    ),
    (
        "odd",
        &[
            "template <class T, class... P> auto f(T n, P &&...a) -> decltype(n)\n{\n@locals@block}\n",
            "namespace {\n@function}\nusing w = decltype(f);\n",
            "S operator+(const S &n, double x)\n{\n@locals@block}\n",
        ],
    ),
    (
        "own",
        &[
            "@simple\n",
            "l(@value);\n",
            "try {\n@block} catch (...) {\n@block}\n",
            "for (auto &e : o->v)\n@statement",
            "if constexpr (n > 1)\n@body",
            "throw 1;\n",
            "std::swap(a, b);\n",
            "auto [y, z] = *o;\n",
            "x = static_cast<double>(@value);\n",
            "[[maybe_unused]] auto *y = new double[n]{};\ndelete[] y;\n",
            "using D = double;\nusing namespace w;\n",
        ],
    ),
    ("kind", &["void", "int", "auto"]),
    (
        "locals",
        &[
            "int i, j, k = 1;\ndouble s = 0, t = 0;\n",
            "int i, j, k;\ndouble s, t;\n#pragma acc declare @declared\n",
            "S r;\ndouble p[4], &q = x;\nauto l = [&](int v) {\n@block};\n",
            "S r{};\nstd::vector<double> p(n);\nauto l = [=, this](auto v) mutable -> double { return x; };\n",
            "const int &m = n;\nstatic constexpr double q[4] = { 1 };\nthread_local int z;\n",
        ],
    ),
];
