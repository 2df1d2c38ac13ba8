"""A network of the size of LoLa's for CIFAR-10, on one encrypted colour image.

Layers and their order are those of LoLa (Brutzkus, Elisha, Gilad-Bachrach 2019): convolution of 83
maps, square, convolution of 163 maps, square, dense layer. No package with CIFAR-10 is known, so
nothing was trained here: weights are random, or a user's. What is shown is the function, encrypted
as in the clear, and the time.
"""
