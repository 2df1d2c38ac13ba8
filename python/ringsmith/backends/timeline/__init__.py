"""Timelines of programs, as every architecture shows them: picture, page, Perfetto's file."""
