"""The papers' tables and the CPU's baselines, measured together: ``ringsmith bench``."""
