// Inner product of two secret vectors of 8 integers.
func.func @dot(%a: tensor<8xi16> {secret.secret}, %b: tensor<8xi16> {secret.secret}) -> i16 {
  %begin = arith.constant 0 : i16
  %sum = affine.for %i = 0 to 8 iter_args(%s = %begin) -> i16 {
    %x = tensor.extract %a[%i] : tensor<8xi16>
    %y = tensor.extract %b[%i] : tensor<8xi16>
    %p = arith.muli %x, %y : i16
    %t = arith.addi %s, %p : i16
    affine.yield %t : i16
  }
  return %sum : i16
}
