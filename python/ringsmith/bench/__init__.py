"""The papers' tables and the CPU's peers, measured side by side: ``ringsmith bench``."""
