// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = results
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: %{plan} | sed '/tv.segment @backward1/,/tv.return/s/wrt = array<i64: 1>/wrt = array<i64: 0>/' \
// RUN:   | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OPERAND
// REDEFINE: %{others} = operands
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: %{plan} | sed '/tv.segment @backward1/,/tv.return/s/tv.add %dy, %dy/tv.add %dz, %dz/' \
// RUN:   | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=RESULT

// Two devices differentiate the same op, of the same values. Device 0 asks for the gradient of its
// first operand, device 1 for that of its second one, and they exchange them; or both ask for
// gradients by its two results, in another order. These are other functions, although all that they
// take is the same.

// PROVED: tv.answer = "proved"

// Where device 1 takes the gradient of the other operand, or the other result twice, it is wrong.

// OPERAND: error: gradient of 'b' differs from the reference on device 1
// RESULT: error: gradient of 'a' differs from the reference on device 1

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @a on 0 "a" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @b on 0 "b" holds <4, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @ga on 0 "a" holds <3, [0:4 of 4]> gradient_of @a : !tv.buffer<tensor<4xf32>>
  tv.buffer @gb on 0 "b" holds <4, [0:4 of 4]> gradient_of @b : !tv.buffer<tensor<4xf32>> // operands
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<4xf32>):
    %a = tv.read @a : tensor<4xf32>
    %b = tv.read @b : tensor<4xf32>
    %ab = tv.multiply %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %xab = tv.multiply %x, %ab : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %xab {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %z = tv.reduce sum %ab {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 0 from %a, %b to %y, %z : tensor<4xf32>, tensor<4xf32> to tensor<f32>, tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %da = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // operands
    tv.add_to %da, @ga : tensor<4xf32> // operands
    %db = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32> // operands
    tv.add_to %db, @gb : tensor<4xf32> // operands
    %dy = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // results
    %dz = tv.backward %d of 0 {outputs = array<i64: 1>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // results
    %p = tv.add %dy, %dy : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // results
    %s = tv.add %p, %dz : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // results
    tv.add_to %s, @ga : tensor<4xf32> // results
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @a0 on 0 "a" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @b0 on 0 "b" holds <4, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @ga0 on 0 "a" holds <3, [0:4 of 4]> gradient_of @a0 : !tv.buffer<tensor<4xf32>> // operands
  tv.buffer @ga0 on 0 "a" holds <3, [0:4 of 4]> gradient_of @a0 : !tv.buffer<tensor<4xf32>> // results
  tv.buffer @gb0 on 0 "b" holds <4, [0:4 of 4]> gradient_of @b0 : !tv.buffer<tensor<4xf32>> // operands
  tv.segment @forward0 on 0 cell 10 {
  ^bb0(%x: tensor<4xf32>):
    %a = tv.read @a0 : tensor<4xf32>
    %b = tv.read @b0 : tensor<4xf32>
    %ab = tv.multiply %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %xab = tv.multiply %x, %ab : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %xab {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %z = tv.reduce sum %ab {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 0 from %a, %b to %y, %z : tensor<4xf32>, tensor<4xf32> to tensor<f32>, tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward0 on 0 cell 11 backward {
    %d = tv.seed : tensor<f32>
    %da = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // operands
    tv.add_to %da, @ga0 : tensor<4xf32> // operands
    %dy = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // results
    %dz = tv.backward %d of 0 {outputs = array<i64: 1>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // results
    %p = tv.add %dy, %dy : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // results
    %s = tv.add %p, %dz : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // results
    tv.add_to %s, @ga0 : tensor<4xf32> // results
    tv.return
  }
  tv.buffer @a1 on 1 "a" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @b1 on 1 "b" holds <4, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @gb1 on 1 "b" holds <4, [0:4 of 4]> gradient_of @b1 : !tv.buffer<tensor<4xf32>> // operands
  tv.buffer @ga1 on 1 "a" holds <3, [0:4 of 4]> gradient_of @a1 : !tv.buffer<tensor<4xf32>> // results
  tv.buffer @ga1 on 1 "a" holds <3, [0:4 of 4]> gradient_of @a1 : !tv.buffer<tensor<4xf32>> // operands
  tv.segment @forward1 on 1 cell 20 {
  ^bb0(%x: tensor<4xf32>):
    %a = tv.read @a1 : tensor<4xf32>
    %b = tv.read @b1 : tensor<4xf32>
    %ab = tv.multiply %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %xab = tv.multiply %x, %ab : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = tv.reduce sum %xab {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %z = tv.reduce sum %ab {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    tv.save 1 from %a, %b to %y, %z : tensor<4xf32>, tensor<4xf32> to tensor<f32>, tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward1 on 1 cell 21 backward {
    %d = tv.seed : tensor<f32>
    %db = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32> // operands
    tv.add_to %db, @gb1 : tensor<4xf32> // operands
    %dz = tv.backward %d of 1 {outputs = array<i64: 1>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // results
    %dy = tv.backward %d of 1 {outputs = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32> // results
    %p = tv.add %dy, %dy : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // results
    %s = tv.add %p, %dz : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // results
    tv.add_to %s, @ga1 : tensor<4xf32> // results
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward0(%x) instance 0 mirror 1 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward0() instance 1 mirror 0 : () -> ()
    %mine = tv.read @ga0 : tensor<4xf32> // operands
    tv.send %mine to 1 : tensor<4xf32> // operands
    %other = tv.receive from 1 : tensor<4xf32> // operands
    tv.write %other, @gb0 : tensor<4xf32> // operands
  }
  tv.program 1 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %y = tv.call @forward1(%x) instance 0 mirror 1 : (tensor<4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward1() instance 1 mirror 0 : () -> ()
    %other = tv.receive from 0 : tensor<4xf32> // operands
    tv.write %other, @ga1 : tensor<4xf32> // operands
    %mine = tv.read @gb1 : tensor<4xf32> // operands
    tv.send %mine to 0 : tensor<4xf32> // operands
  }
}
