"""Methods, or learners, side by side on one problem."""
