"""What each kind of run has to show: one module of pages for each, loaded by name when such a run is looked at."""
