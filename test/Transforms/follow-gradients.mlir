// RUN: verify-opt %s --tv-verify-equiv | FileCheck %s
// RUN: sed 's/%double to 1 : tensor<1x1xf32> .. backward/%once to 1 : tensor<1x1xf32>/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/tv.add_to %d, @dw : tensor<1x1xf32> .. once/tv.add_to %d, @dw : tensor<1x1xf32> tv.add_to %d, @dw : tensor<1x1xf32>/' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/.. early //' %s | verify-opt --tv-verify-equiv | FileCheck %s
// RUN: sed 's/send %double/send %once/; s/\[2.0\]/[1.0]/; s/.. early //' %s | verify-opt --tv-verify-equiv | FileCheck %s
// RUN: sed 's/send %double/send %once/; s/\[2.0\]/[1.0]/; s/.. early %e = tv.read @dw/%e = tv.read @dv/; s/.. early //' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: sed 's/send %double/send %once/; s/\[2.0\]/[1.0]/; s/.. early %e/%e/' %s | verify-opt --tv-verify-equiv | FileCheck %s
// RUN: sed 's/send %double/send %once/; s/\[2.0\]/[1.0]/; s/.. early %e/%e/; s/instance 8 mirror 7/instance 10 mirror 0/; s/instance 10 mirror 9/instance 8 mirror 7/; s/mirror 0/mirror 9/' %s | verify-opt --tv-verify-equiv | FileCheck %s
// RUN: sed 's/.. inside //; s/tv.add_to %d, @du .*//' %s | verify-opt --tv-verify-equiv | FileCheck %s

// Three micro-batches add to gradients in one segment. After the first addition
// it receives a value, which is another one in the second micro-batch: what was
// added until then is added once, and so is what follows. The gradient of %u is
// that of %w: it is added to, or else, inside, overwritten by all that has been
// added to the other one. Where it receives the same value in all three, the
// second one adds as the first did, and so does the third, after what was added
// was read, also where the last two are exchanged, or overwritten by itself or
// by something else.

// CHECK: tv.answer = "proved"
// OTHER: error: {{.*}}'v'{{.*}} differs
// TWICE: error: {{.*}}'w'{{.*}} differs
// OVERWRITTEN: error: {{.*}}'w'{{.*}} differs

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @dw on 0 "w" holds <3, [0:1 of 1, 0:1 of 1]> gradient_of @w : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @u on 0 "u" holds <5, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @du on 0 "u" holds <5, [0:1 of 1, 0:1 of 1]> gradient_of @u : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @v on 0 "v" holds <4, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @dv on 0 "v" holds <4, [0:1 of 1, 0:1 of 1]> gradient_of @v : !tv.buffer<tensor<1x1xf32>>
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<3x1xf32>):
    %w = tv.read @w : tensor<1x1xf32>
    %u = tv.read @u : tensor<1x1xf32>
    %v = tv.read @v : tensor<1x1xf32>
    %c = tv.constant dense<[[1.0], [2.0], [1.0]]> : tensor<3x1xf32> : () -> tensor<3x1xf32>
    %s = tv.linear %x, %w : (tensor<3x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
    tv.save 4 from %x, %w to %s : tensor<3x1xf32>, tensor<1x1xf32> to tensor<3x1xf32>
    %t = tv.linear %c, %v : (tensor<3x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
    tv.save 5 from %c, %v to %t : tensor<3x1xf32>, tensor<1x1xf32> to tensor<3x1xf32>
    %r = tv.linear %x, %u : (tensor<3x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
    tv.save 7 from %x, %u to %r : tensor<3x1xf32>, tensor<1x1xf32> to tensor<3x1xf32>
    %sum = tv.add %s, %t : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %all = tv.add %sum, %r : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    %y = tv.reduce sum %all {dimensions = array<i64: 0, 1>} : (tensor<3x1xf32>) -> tensor<f32>
    tv.save 6 from %s, %t, %r to %y : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 0 cell 3 backward {
  ^bb0(%g: tensor<f32>):
    %ds, %dt, %dr = tv.backward %g of 6 {outputs = array<i64: 0>, wrt = array<i64: 0, 1, 2>} : (tensor<f32>) -> (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>)
    %dw = tv.backward %ds of 4 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<3x1xf32>) -> tensor<1x1xf32>
    %dv = tv.backward %dt of 5 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<3x1xf32>) -> tensor<1x1xf32>
    %du = tv.backward %dr of 7 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<3x1xf32>) -> tensor<1x1xf32>
    tv.add_to %dw, @dw : tensor<1x1xf32>
    tv.add_to %dv, @dv : tensor<1x1xf32>
    tv.add_to %du, @du : tensor<1x1xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:3 of 3, 0:1 of 1]>] : tensor<3x1xf32>
    %y = tv.call @forward(%x) instance 2 mirror 3 : (tensor<3x1xf32>) -> tensor<f32>
    %g = tv.seed : tensor<f32>
    tv.call @backward(%g) instance 3 mirror 2 : (tensor<f32>) -> ()
    tv.output %y "loss" <8, []> : tensor<f32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 3> {
  tv.buffer @w on 1 "w" holds <3, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @dw on 1 "w" holds <3, [0:1 of 1, 0:1 of 1]> gradient_of @w : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @u on 1 "u" holds <5, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @du on 1 "u" holds <5, [0:1 of 1, 0:1 of 1]> gradient_of @u : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @v on 1 "v" holds <4, [0:1 of 1, 0:1 of 1]> : !tv.buffer<tensor<1x1xf32>>
  tv.buffer @dv on 1 "v" holds <4, [0:1 of 1, 0:1 of 1]> gradient_of @v : !tv.buffer<tensor<1x1xf32>>
  tv.segment @factors on 0 cell 1 {
    %once = tv.constant dense<1.0> : tensor<1x1xf32> : () -> tensor<1x1xf32>
    %double = tv.constant dense<2.0> : tensor<1x1xf32> : () -> tensor<1x1xf32>
    tv.send %once to 1 : tensor<1x1xf32>
    tv.send %double to 1 : tensor<1x1xf32>
    tv.send %once to 1 : tensor<1x1xf32>
    tv.send %once to 1 : tensor<1x1xf32>
    tv.send %double to 1 : tensor<1x1xf32> // backward
    tv.send %once to 1 : tensor<1x1xf32>
    tv.return
  }
  tv.segment @forward on 1 cell 2 {
  ^bb0(%x: tensor<1x1xf32>):
    %w = tv.read @w : tensor<1x1xf32>
    %u = tv.read @u : tensor<1x1xf32>
    %s = tv.linear %x, %w : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    tv.save 4 from %x, %w to %s : tensor<1x1xf32>, tensor<1x1xf32> to tensor<1x1xf32>
    %r = tv.linear %x, %u : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %y = tv.add %s, %r : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    tv.return %y : tensor<1x1xf32>
  }
  tv.segment @loss on 1 cell 4 {
  ^bb0(%s: tensor<1x1xf32>):
    %v = tv.read @v : tensor<1x1xf32>
    %c = tv.receive from 0 : tensor<1x1xf32>
    %t = tv.multiply %c, %v : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %sum = tv.add %s, %t : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %y = tv.reduce sum %sum {dimensions = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 1 cell 3 backward {
  ^bb0(%g: tensor<f32>):
    %ds = tv.reshape %g : (tensor<f32>) -> tensor<1x1xf32>
    %d = tv.backward %ds of 4 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<1x1xf32>) -> tensor<1x1xf32>
    tv.add_to %d, @dw : tensor<1x1xf32> // once
    // inside %e = tv.read @dw : tensor<1x1xf32>
    // inside tv.write %e, @du : tensor<1x1xf32>
    tv.add_to %d, @du : tensor<1x1xf32>
    %c = tv.receive from 0 : tensor<1x1xf32>
    tv.add_to %c, @dv : tensor<1x1xf32>
    tv.return
  }
  tv.program 0 {
    tv.call @factors() instance 1 : () -> ()
  }
  tv.program 1 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:1 of 1]>] : tensor<1x1xf32>
    %s0 = tv.call @forward(%x0) instance 5 mirror 6 : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %y0 = tv.call @loss(%s0) instance 15 : (tensor<1x1xf32>) -> tensor<f32>
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:1 of 1]>] : tensor<1x1xf32>
    %s1 = tv.call @forward(%x1) instance 7 mirror 8 : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %y1 = tv.call @loss(%s1) instance 17 : (tensor<1x1xf32>) -> tensor<f32>
    %x2 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:1 of 1, 0:1 of 1]>] : tensor<1x1xf32>
    %s2 = tv.call @forward(%x2) instance 9 mirror 10 : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %y2 = tv.call @loss(%s2) instance 19 : (tensor<1x1xf32>) -> tensor<f32>
    %g = tv.seed : tensor<f32>
    tv.call @backward(%g) instance 6 mirror 5 : (tensor<f32>) -> ()
    tv.call @backward(%g) instance 8 mirror 7 : (tensor<f32>) -> ()
    // early %e = tv.read @dw : tensor<1x1xf32>
    // early tv.write %e, @dw : tensor<1x1xf32>
    tv.call @backward(%g) instance 10 mirror 9 : (tensor<f32>) -> ()
    tv.output %y0 "loss" <8, []> : tensor<f32>
    tv.output %y1 "loss" <8, []> : tensor<f32>
    tv.output %y2 "loss" <8, []> : tensor<f32>
  }
}
