// Inner product of two secret vectors of 8 numbers, and 0.1.
func.func @dot(%a: tensor<8xf32> {secret.secret}, %b: tensor<8xf32> {secret.secret}) -> f32 {
  %begin = arith.constant 0.1 : f32
  %sum = affine.for %i = 0 to 8 iter_args(%s = %begin) -> f32 {
    %x = tensor.extract %a[%i] : tensor<8xf32>
    %y = tensor.extract %b[%i] : tensor<8xf32>
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    affine.yield %t : f32
  }
  return %sum : f32
}
