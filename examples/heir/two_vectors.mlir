// x * y + x of 16 secret numbers each, in vectors of 8.
func.func @two_vectors(%x: tensor<16xf32> {secret.secret}, %y: tensor<16xf32> {secret.secret})
    -> tensor<16xf32> {
  %p = arith.mulf %x, %y : tensor<16xf32>
  %r = arith.addf %p, %x : tensor<16xf32>
  return %r : tensor<16xf32>
}
