"""The papers' tables and the CPU's baselines, measured side by side: ``ringsmith bench``."""
