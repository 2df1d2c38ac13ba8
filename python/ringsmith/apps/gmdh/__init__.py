"""The smart-grid forecast: demand in the afternoon from encrypted readings of the morning.

Households (``client``) hold meter readings and the secret key; a grid operator (``server``) holds a
trained network and evaluates it on ciphertexts, without learning a reading or a forecast. The
network is made by the group method of data handling (GMDH): three hidden layers of quadratic
neurons and an output neuron, multiplicative depth 4, as in Bos, Castryck, Iliashenko, Vercauteren
2017, "Privacy-friendly forecasting for the smart grid using homomorphic encryption and the group
method of data handling"; Turan, Roy, Verbauwhede 2020 (HEAWS), section 5.2, measure the same. It
runs exactly, in BFV, and approximately, in CKKS.
"""
