"""`python -m memman`."""

from memman._entry import leave, main

leave(main())
