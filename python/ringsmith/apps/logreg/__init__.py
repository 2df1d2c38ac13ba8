"""Logistic regression on encrypted patient records.

A hospital (``client``) holds records of tumours and the secret key; a laboratory (``server``) holds
a trained model and evaluates it on ciphertexts, on a device of its choice, without learning a
record or a diagnosis. The two share the packing and the preprocessing, and nothing else:
``server`` never imports ``client``.
"""
