"""`python -m memman`."""

import sys

from memman._entry import main

sys.exit(main())
