// The only file that knows Python: argument checks, array owners, and the GIL released around work.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_native, m) {
    m.doc() = "Native kernels of omnitm; use the Python modules around them.";
}
