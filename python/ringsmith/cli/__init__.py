"""The ``ringsmith`` command."""
