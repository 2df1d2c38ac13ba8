// Sum of 32 secret integers.
func.func @simple_sum(%a: tensor<32xi16> {secret.secret}) -> i16 {
  %begin = arith.constant 0 : i16
  %sum = affine.for %i = 0 to 32 iter_args(%s = %begin) -> i16 {
    %x = tensor.extract %a[%i] : tensor<32xi16>
    %t = arith.addi %s, %x : i16
    affine.yield %t : i16
  }
  return %sum : i16
}
