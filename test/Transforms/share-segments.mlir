// DEFINE: %{others} =
// DEFINE: %{plan} = grep -v '// \(%{others}\)$' %s
// REDEFINE: %{others} = wrong\|again
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=ALIKE
// RUN: %{plan} | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: %{plan} | sed 's/cell [0-9]* at loc("model.py":4/cell 7 at loc("model.py":7/' | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=ALIKE
// RUN: %{plan} | sed '/@once/,/tv.return/s/"model.py":4/"model.py":7/' | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=PLACES
// RUN: %{plan} | sed '/@once/,/tv.return/s/"pow"/"cube"/' | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=PLACES
// RUN: %{plan} | sed '/@once/,/tv.return/s/tv.add \(..\), \(..\)/tv.add \2, \1/' | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=PLACES
// REDEFINE: %{others} = alike\|again
// RUN: %{plan} | verify-opt --tv-canonicalize-ssa | FileCheck %s --check-prefix=APART
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUTED
// REDEFINE: %{others} = wrong
// RUN: %{plan} | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE

// One micro-batch has segments of its own, of the same ops of the model: those are one op of the graph
// for all micro-batches, as are collectives, derivatives and what is added to gradients. The two powers
// of one segment are two ops, although they are of one place.

// ALIKE: tv.graph
// ALIKE: %[[R:.*]] = tv.multiply {{.*}} on <device = 0> :
// ALIKE: %[[P:.*]] = tv.power %[[R]] on <device = 0> {numerator = 3
// ALIKE: %[[Q:.*]] = tv.power %[[R]] on <device = 0> {numerator = 3
// ALIKE: tv.add %[[P]], %[[Q]] on <device = 0> :
// ALIKE: tv.all_reduce {{.*}} on <device = 0:2> :
// ALIKE: tv.accumulate {{.*}} over <mb = 0:3> on <device = 0> :
// ALIKE: tv.accumulate {{.*}} over <mb = 0:3> on <device = 1> :
// ALIKE-NOT: mb = {{[^0]}}
// PROVED: tv.answer = "proved"

// Where anything in a segment is of another place or name, or of other operands, all of it is.

// PLACES: tv.graph
// PLACES: tv.multiply {{.*}} on <device = 0, mb = 0 | 2>
// PLACES-NEXT: tv.power {{.*}} on <device = 0, mb = 0 | 2> {numerator = 3
// PLACES: tv.multiply {{.*}} on <device = 0, mb = 1>

// So it is where one op of it is another function. What the other device does is as in other
// micro-batches, up to where they meet.

// APART: tv.graph
// APART: tv.power {{.*}} on <device = 0> {numerator = 3
// APART: tv.power {{.*}} on <device = 0> {numerator = 3
// APART: %[[R:.*]] = tv.multiply {{.*}} on <device = 1, mb = 1>
// APART: tv.power %[[R]] on <device = 1, mb = 1> {numerator = 3
// APART: tv.power %[[R]] on <device = 1, mb = 1> {numerator = 2
// APART: tv.all_reduce {{.*}} on <device = 0:2, mb = 1>
// REFUTED: error: output 'loss' differs from the reference on devices 0-1

// What one of them adds to a gradient twice counts twice.

// TWICE: error: gradient of 'w' differs from the reference on device 1

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.segment @forward on 0 cell 0 {
  ^bb0(%x: tensor<3x4xf32>):
    %w = tv.read @w : tensor<4xf32>
    %r = tv.multiply %x, %w : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    %p = tv.power %r {numerator = 3 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %q = tv.power %r {numerator = 3 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %t = tv.add %p, %q : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %y = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<3x4xf32>) -> tensor<f32>
    tv.save 0 from %x, %w to %y : tensor<3x4xf32>, tensor<4xf32> to tensor<f32>
    tv.return %y : tensor<f32>
  }
  tv.segment @backward on 0 cell 1 backward {
    %d = tv.seed : tensor<f32>
    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<4xf32>
    tv.add_to %dw, @g : tensor<4xf32>
    tv.return
  }
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:3 of 3, 0:4 of 4]>] : tensor<3x4xf32>
    %y = tv.call @forward(%x) instance 0 mirror 1 : (tensor<3x4xf32>) -> tensor<f32>
    tv.output %y "loss" <2, []> : tensor<f32>
    tv.call @backward() instance 1 mirror 0 : () -> ()
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 3> {
  tv.buffer @w0 on 0 "w" holds <3, [0:2 of 4]> : !tv.buffer<tensor<2xf32>>
  tv.buffer @g0 on 0 "w" holds <3, [0:2 of 4]> gradient_of @w0 : !tv.buffer<tensor<2xf32>>
  tv.buffer @w1 on 1 "w" holds <3, [2:4 of 4]> : !tv.buffer<tensor<2xf32>>
  tv.buffer @g1 on 1 "w" holds <3, [2:4 of 4]> gradient_of @w1 : !tv.buffer<tensor<2xf32>>
  tv.segment @often0 on 0 cell 10 {
  ^bb0(%x: tensor<1x2xf32>):
    %w = tv.read @w0 : tensor<2xf32> loc(#tv.node<"segment" cell 10 at loc("model.py":1:0)>)
    %r = tv.multiply %x, %w : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32> loc(#tv.node<"mul" cell 101 at loc("model.py":3:0)>)
    %p = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 102 at loc("model.py":4:0)>)
    %q = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 103 at loc("model.py":4:0)>)
    %t = tv.add %p, %q : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"add" cell 104 at loc("model.py":5:0)>)
    %s = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<1x2xf32>) -> tensor<f32> loc(#tv.node<"sum" cell 105 at loc("model.py":6:0)>)
    %y = tv.communicate all_reduce %s group [0, 1] : (tensor<f32>) -> tensor<f32> loc(#tv.node<"adapter" cell 106 at loc("model.py":6:0)>)
    tv.save 10 from %x, %w to %s : tensor<1x2xf32>, tensor<2xf32> to tensor<f32> loc(#tv.node<"sum" cell 105 at loc("model.py":6:0)>)
    tv.return %y : tensor<f32> loc(#tv.node<"segment" cell 10 at loc("model.py":1:0)>)
  }
  tv.segment @Boften0 on 0 cell 15 backward {
    %d = tv.seed : tensor<f32> loc(#tv.node<"segment" cell 15 at loc("model.py":1:0)>)
    %dw = tv.backward %d of 10 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<2xf32> loc(#tv.node<"sum backward" cell 155 at loc("model.py":6:0)>)
    tv.add_to %dw, @g0 : tensor<2xf32> loc(#tv.node<"segment" cell 15 at loc("model.py":1:0)>)
    tv.return loc(#tv.node<"segment" cell 15 at loc("model.py":1:0)>)
  }
  tv.segment @once0 on 0 cell 20 {
  ^bb0(%x: tensor<1x2xf32>):
    %w = tv.read @w0 : tensor<2xf32> loc(#tv.node<"segment" cell 20 at loc("model.py":1:0)>)
    %r = tv.multiply %x, %w : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32> loc(#tv.node<"mul" cell 201 at loc("model.py":3:0)>)
    %p = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 202 at loc("model.py":4:0)>)
    %q = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 203 at loc("model.py":4:0)>)
    %t = tv.add %p, %q : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"add" cell 204 at loc("model.py":5:0)>)
    %s = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<1x2xf32>) -> tensor<f32> loc(#tv.node<"sum" cell 205 at loc("model.py":6:0)>)
    %y = tv.communicate all_reduce %s group [0, 1] : (tensor<f32>) -> tensor<f32> loc(#tv.node<"adapter" cell 206 at loc("model.py":6:0)>)
    tv.save 20 from %x, %w to %s : tensor<1x2xf32>, tensor<2xf32> to tensor<f32> loc(#tv.node<"sum" cell 205 at loc("model.py":6:0)>)
    tv.return %y : tensor<f32> loc(#tv.node<"segment" cell 20 at loc("model.py":1:0)>)
  }
  tv.segment @Bonce0 on 0 cell 25 backward {
    %d = tv.seed : tensor<f32> loc(#tv.node<"segment" cell 25 at loc("model.py":1:0)>)
    %dw = tv.backward %d of 20 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<2xf32> loc(#tv.node<"sum backward" cell 255 at loc("model.py":6:0)>)
    tv.add_to %dw, @g0 : tensor<2xf32> loc(#tv.node<"segment" cell 25 at loc("model.py":1:0)>)
    tv.return loc(#tv.node<"segment" cell 25 at loc("model.py":1:0)>)
  }
  tv.segment @often1 on 1 cell 30 {
  ^bb0(%x: tensor<1x2xf32>):
    %w = tv.read @w1 : tensor<2xf32> loc(#tv.node<"segment" cell 30 at loc("model.py":1:0)>)
    %r = tv.multiply %x, %w : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32> loc(#tv.node<"mul" cell 301 at loc("model.py":3:0)>)
    %p = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 302 at loc("model.py":4:0)>)
    %q = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 303 at loc("model.py":4:0)>)
    %t = tv.add %p, %q : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"add" cell 304 at loc("model.py":5:0)>)
    %s = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<1x2xf32>) -> tensor<f32> loc(#tv.node<"sum" cell 305 at loc("model.py":6:0)>)
    %y = tv.communicate all_reduce %s group [0, 1] : (tensor<f32>) -> tensor<f32> loc(#tv.node<"adapter" cell 306 at loc("model.py":6:0)>)
    tv.save 30 from %x, %w to %s : tensor<1x2xf32>, tensor<2xf32> to tensor<f32> loc(#tv.node<"sum" cell 305 at loc("model.py":6:0)>)
    tv.return %y : tensor<f32> loc(#tv.node<"segment" cell 30 at loc("model.py":1:0)>)
  }
  tv.segment @Boften1 on 1 cell 35 backward {
    %d = tv.seed : tensor<f32> loc(#tv.node<"segment" cell 35 at loc("model.py":1:0)>)
    %dw = tv.backward %d of 30 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<2xf32> loc(#tv.node<"sum backward" cell 355 at loc("model.py":6:0)>)
    tv.add_to %dw, @g1 : tensor<2xf32> loc(#tv.node<"segment" cell 35 at loc("model.py":1:0)>)
    tv.return loc(#tv.node<"segment" cell 35 at loc("model.py":1:0)>)
  }
  tv.segment @once1 on 1 cell 40 {
  ^bb0(%x: tensor<1x2xf32>):
    %w = tv.read @w1 : tensor<2xf32> loc(#tv.node<"segment" cell 40 at loc("model.py":1:0)>)
    %r = tv.multiply %x, %w : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32> loc(#tv.node<"mul" cell 401 at loc("model.py":3:0)>)
    %p = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 402 at loc("model.py":4:0)>)
    %q = tv.power %r {numerator = 3 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 403 at loc("model.py":4:0)>) // alike
    %q = tv.power %r {numerator = 2 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"pow" cell 403 at loc("model.py":4:0)>) // wrong
    %t = tv.add %p, %q : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc(#tv.node<"add" cell 404 at loc("model.py":5:0)>)
    %s = tv.reduce sum %t {dimensions = array<i64: 0, 1>} : (tensor<1x2xf32>) -> tensor<f32> loc(#tv.node<"sum" cell 405 at loc("model.py":6:0)>)
    %y = tv.communicate all_reduce %s group [0, 1] : (tensor<f32>) -> tensor<f32> loc(#tv.node<"adapter" cell 406 at loc("model.py":6:0)>)
    tv.save 40 from %x, %w to %s : tensor<1x2xf32>, tensor<2xf32> to tensor<f32> loc(#tv.node<"sum" cell 405 at loc("model.py":6:0)>)
    tv.return %y : tensor<f32> loc(#tv.node<"segment" cell 40 at loc("model.py":1:0)>)
  }
  tv.segment @Bonce1 on 1 cell 45 backward {
    %d = tv.seed : tensor<f32> loc(#tv.node<"segment" cell 45 at loc("model.py":1:0)>)
    %dw = tv.backward %d of 40 {outputs = array<i64: 0>, wrt = array<i64: 1>} : (tensor<f32>) -> tensor<2xf32> loc(#tv.node<"sum backward" cell 455 at loc("model.py":6:0)>)
    tv.add_to %dw, @g1 : tensor<2xf32> loc(#tv.node<"segment" cell 45 at loc("model.py":1:0)>)
    tv.add_to %dw, @g1 : tensor<2xf32> loc(#tv.node<"segment" cell 45 at loc("model.py":1:0)>) // again
    tv.return loc(#tv.node<"segment" cell 45 at loc("model.py":1:0)>)
  }
  tv.program 0 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:2 of 4]>] : tensor<1x2xf32>
    %y0 = tv.call @often0(%x0) instance 0 mirror 1 : (tensor<1x2xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    tv.call @Boften0() instance 1 mirror 0 : () -> ()
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:2 of 4]>] : tensor<1x2xf32>
    %y1 = tv.call @once0(%x1) instance 2 mirror 3 : (tensor<1x2xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
    tv.call @Bonce0() instance 3 mirror 2 : () -> ()
    %x2 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 0:2 of 4]>] : tensor<1x2xf32>
    %y2 = tv.call @often0(%x2) instance 4 mirror 5 : (tensor<1x2xf32>) -> tensor<f32>
    tv.output %y2 "loss" <2, []> : tensor<f32>
    tv.call @Boften0() instance 5 mirror 4 : () -> ()
  }
  tv.program 1 {
    %x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 2:4 of 4]>] : tensor<1x2xf32>
    %y0 = tv.call @often1(%x0) instance 0 mirror 1 : (tensor<1x2xf32>) -> tensor<f32>
    tv.output %y0 "loss" <2, []> : tensor<f32>
    tv.call @Boften1() instance 1 mirror 0 : () -> ()
    %x1 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 2:4 of 4]>] : tensor<1x2xf32>
    %y1 = tv.call @once1(%x1) instance 2 mirror 3 : (tensor<1x2xf32>) -> tensor<f32>
    tv.output %y1 "loss" <2, []> : tensor<f32>
    tv.call @Bonce1() instance 3 mirror 2 : () -> ()
    %x2 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:1 of 1, 2:4 of 4]>] : tensor<1x2xf32>
    %y2 = tv.call @often1(%x2) instance 4 mirror 5 : (tensor<1x2xf32>) -> tensor<f32>
    tv.output %y2 "loss" <2, []> : tensor<f32>
    tv.call @Boften1() instance 5 mirror 4 : () -> ()
  }
}
