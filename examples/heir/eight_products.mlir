// Eight rounds of x * y - 1 in a loop, of vectors of 8 numbers.
func.func @eight_products(%x: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %y = affine.for %i = 0 to 8 iter_args(%s = %x) -> tensor<8xf32> {
    %p = arith.mulf %s, %x : tensor<8xf32>
    %t = arith.subf %p, %one : tensor<8xf32>
    affine.yield %t : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
