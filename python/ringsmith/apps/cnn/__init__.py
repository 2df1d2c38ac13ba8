"""A convolutional network on encrypted images of handwritten digits.

Somebody (``client``) holds images and the secret key; a service (``server``) holds a trained
network and evaluates it on ciphertexts, without learning an image or a digit. Convolution, square,
dense layer, square, dense layer: what CryptoNets evaluates (Gilad-Bachrach, Dowlin, Laine, Lauter,
Naehrig, Wernsing 2016), whose pooling is part of its first dense layer. There a ciphertext holds
one pixel of thousands of images; here it holds all maps of a few, and all three layers are products
with matrices by diagonals.
"""
