"""What people look at: comparisons of model and RTL, and coverage."""
