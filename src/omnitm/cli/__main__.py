"""`python -m omnitm.cli` is `omnitm`."""

import sys

from omnitm.cli import main

sys.exit(main())
