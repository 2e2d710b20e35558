# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of segments that are called on each other's results, as text."""

from collections.abc import Callable

from hunt.called_plans import COLUMN, COLUMNS, DATA, PARAMETER, SUM, Body, CalledPlan, Part, Step

Kind = Callable[[str], str]
#: Of each value that has a gradient, that gradient.
Gradients = dict[str, str]


def kinds(rows: int, columns: int) -> Kind:
    """The types of shapes, for so many rows and columns."""
    types = {
        DATA: f"tensor<{rows}x{columns}xf32>",
        PARAMETER: f"tensor<{columns}xf32>",
        SUM: f"tensor<{rows}xf32>",
        COLUMN: f"tensor<{rows}x1xf32>",
    }
    return types.__getitem__


def print_plan(plan: CalledPlan) -> str:
    """The module: the reference, and the plan."""
    lines = [*_reference(plan), "}"]
    mesh = f"<dp = 1, device = {plan.devices}, mb = {plan.micro_batches}>"
    lines.append(f"tv.plan @plan {mesh} {{")
    for device in range(plan.devices):
        lines += _Device(plan, device).print_all()
    lines.append("}")
    return "\n".join(["module {", *(f"  {line}" for line in lines), "}"]) + "\n"


def _buffers(device: int, columns: int, start: int, size: int) -> list[str]:
    held = f'"w" holds <3, [{start}:{start + columns} of {size}]>'
    type_ = f"!tv.buffer<tensor<{columns}xf32>>"
    return [
        f"  tv.buffer @w{device} on {device} {held} : {type_}",
        f"  tv.buffer @gradient_of_w{device} on {device} {held} gradient_of @w{device} : {type_}",
    ]


def _print_step(step: Step, names: dict[str, str], body: Body, kind: Kind) -> str:
    operands = ", ".join(names[name] for name in step.operands)
    types = ", ".join(kind(body.shapes[name]) for name in step.operands)
    attributes = f" {{{step.attributes}}}" if step.attributes else ""
    result = f"{names[step.result]} = tv.{step.name} {operands}{attributes}"
    return f"    {result} : ({types}) -> {kind(body.shapes[step.result])}"


def _backward(
    gradients: list[str], save: int, outputs: list[int], count: int, types: tuple[str, str]
) -> str:
    wrt = ", ".join(map(str, range(count)))
    listed = ", ".join(map(str, outputs))
    return (
        f"tv.backward {', '.join(gradients)} of {save} {{outputs = array<i64: {listed}>, "
        f"wrt = array<i64: {wrt}>}} : ({types[0]}) -> {types[1]}"
    )


def _reference(plan: CalledPlan) -> list[str]:
    """All calls in one segment, on all columns and all rows."""
    rows, columns = plan.micro_batches, COLUMNS * plan.devices
    kind = kinds(rows, columns)
    data, parameter = kind(DATA), kind(PARAMETER)
    lines = [
        "tv.plan @reference <dp = 1, device = 1, mb = 1> {",
        *_buffers(0, columns, 0, columns),
        "  tv.segment @forward on 0 cell 0 {",
        f"  ^bb0(%x: {data}):",
        f"    %w = tv.read @w0 : {parameter}",
    ]
    results: dict[tuple[int, int] | None, str] = {None: "%x"}
    for number, call in enumerate(plan.calls):
        body = plan.bodies[call.body]
        names = {name: f"%c{number}{name[1:]}" for name in body.shapes}
        names |= {"%w": "%w", "%u": "%w"}
        for name, value in zip(body.arguments, call.arguments, strict=True):
            names[name] = results[value]
        for part in body.parts:
            lines += [_print_step(step, names, body, kind) for step in part.steps]
            if not part.steps:
                names[part.outputs[0]] = names[part.inputs[0]]
        results |= {(number, i): names[name] for i, name in enumerate(body.results)}
    last = results[len(plan.calls) - 1, len(plan.bodies[plan.calls[-1].body].results) - 1]
    return [
        *lines,
        f"    %l = tv.reduce sum {last} {{dimensions = array<i64: 0, 1>}} : "
        f"({data}) -> tensor<f32>",
        f"    tv.save 0 from %x, %w to %l : {data}, {parameter} to tensor<f32>",
        "    tv.return %l : tensor<f32>",
        "  }",
        "  tv.segment @backward on 0 cell 1 backward {",
        "    %d = tv.seed : tensor<f32>",
        "    %dw = tv.backward %d of 0 {outputs = array<i64: 0>, wrt = array<i64: 1>} : "
        f"(tensor<f32>) -> {parameter}",
        f"    tv.add_to %dw, @gradient_of_w0 : {parameter}",
        "    tv.return",
        "  }",
        "  tv.program 0 {",
        f'    %x = tv.load_data cell 1 ["x"] holds [{_piece(rows, 0, columns, columns)}] : {data}',
        f"    %l = tv.call @forward(%x) instance 0 mirror 1 : ({data}) -> tensor<f32>",
        '    tv.output %l "loss" <2, []> : tensor<f32>',
        "    tv.call @backward() instance 1 mirror 0 : () -> ()",
        "  }",
    ]


def _piece(rows: int, start: int, columns: int, size: int) -> str:
    return f"#tv.piece<1, [0:{rows} of {rows}, {start}:{start + columns} of {size}]>"


def _results(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}#{i}" for i in range(count)]


class _Device:
    """The buffers, segments and program of a device."""

    def __init__(self, plan: CalledPlan, device: int) -> None:
        self.plan = plan
        self.device = device
        self.kind = kinds(1, COLUMNS)
        self.group = str(list(range(plan.devices)))
        self.segments: dict[str, list[str]] = {}
        self.added = 0

    def print_all(self) -> list[str]:
        """All lines."""
        start, columns = COLUMNS * self.device, COLUMNS * self.plan.devices
        lines = _buffers(self.device, COLUMNS, start, columns)
        if any(body.again == "scratch" for body in self.plan.bodies):
            type_ = f"!tv.buffer<{self.kind(PARAMETER)}>"
            lines.append(f'  tv.scratch @s{self.device} on {self.device} "s" : {type_}')
        program = self._program()
        for segment in self.segments.values():
            lines += segment
        return lines + program

    def _save(self, body: int, copy: int, part: int) -> int:
        return 100 * body + 10 * part + (0 if self.plan.shares_saves else copy)

    def _sum(self, result: str, value: str, shape: str) -> str:
        type_ = self.kind(shape)
        return (
            f"    {result} = tv.communicate all_reduce {value} group {self.group} : "
            f"({type_}) -> {type_}"
        )

    def _name(self, what: str, body: int, copy: int) -> tuple[str, str]:
        """The name of a segment, and how it begins."""
        name = f"{what}{body}c{copy}_device{self.device}"
        cell = 1000 * (copy + 1) + 100 * body + (50 if what[0] == "B" else 0)
        backward = " backward" if what[0] == "B" else ""
        return name, f"  tv.segment @{name} on {self.device} cell {cell}{backward} {{"

    def _forward(self, number: int, copy: int) -> str:
        body = self.plan.bodies[number]
        name, first = self._name("F", number, copy)
        parameter, data = self.kind(PARAMETER), self.kind(DATA)
        given = ", ".join(f"{argument}: {data}" for argument in body.arguments)
        lines = [first, f"  ^bb0({given}):", f"    %w = tv.read @w{self.device} : {parameter}"]
        if body.again == "read":
            lines.append(f"    %u = tv.read @w{self.device} : {parameter}")
        if body.again == "scratch":
            lines.append(f"    tv.write %w, @s{self.device} : {parameter}")
            lines.append(f"    %u = tv.read @s{self.device} : {parameter}")
        same = {value: value for value in body.shapes}
        for place, part in enumerate(body.parts):
            if not part.steps:
                lines.append(self._sum(part.outputs[0], part.inputs[0], SUM))
                continue
            lines += [_print_step(step, same, body, self.kind) for step in part.steps]
            if part.outputs:
                inputs, outputs = (", ".join(names) for names in (part.inputs, part.outputs))
                types = (
                    ", ".join(self.kind(body.shapes[value]) for value in names)
                    for names in (part.inputs, part.outputs)
                )
                save = self._save(number, copy, place)
                lines.append(
                    f"    tv.save {save} from {inputs} to {outputs} : {' to '.join(types)}"
                )
        lines.append(f"    tv.return {', '.join(body.results)} : {self._data(len(body.results))}")
        self.segments[name] = [*lines, "  }"]
        return name

    def _data(self, count: int) -> str:
        return ", ".join([self.kind(DATA)] * count)

    def _backward(self, number: int, copy: int, given: list[int]) -> str:
        """The backward segment, for gradients of some of the results."""
        body = self.plan.bodies[number]
        name, first = self._name("B" + "".join(map(str, given)) + "b", number, copy)
        gradients = {body.results[i]: f"%g{i}" for i in given}
        arguments = ", ".join(f"{value}: {self.kind(DATA)}" for value in gradients.values())
        lines = [first, f"  ^bb0({arguments}):"]
        for place in reversed(range(len(body.parts))):
            lines += self._derive(body, place, self._save(number, copy, place), gradients)
        for value in ("%w", "%u"):
            if value in gradients:
                buffer = f"@gradient_of_w{self.device}"
                lines.append(f"    tv.add_to {gradients[value]}, {buffer} : {self.kind(PARAMETER)}")
        for value in body.arguments:
            if value not in gradients:
                # What was given a gradient was not made of it.
                gradients[value] = f"%n{value[1:]}"
                zero = f"tv.constant dense<0.0> : tensor<f64> : () -> {self.kind(DATA)}"
                lines.append(f"    {gradients[value]} = {zero}")
        found = ", ".join(gradients[value] for value in body.arguments)
        lines.append(f"    tv.return {found} : {self._data(len(body.arguments))}")
        self.segments[name] = [*lines, "  }"]
        return name

    def _derive(self, body: Body, place: int, save: int, gradients: Gradients) -> list[str]:
        """The derivatives of a part, added to those that are there."""
        part: Part = body.parts[place]
        outputs = [i for i, value in enumerate(part.outputs) if value in gradients]
        if not outputs:
            return []
        given = [gradients[part.outputs[i]] for i in outputs]
        if not part.steps:
            result = f"%r{place}"
            gradients[part.inputs[0]] = result
            return [self._sum(result, given[0], SUM)]
        types = ", ".join(self.kind(body.shapes[part.outputs[i]]) for i in outputs)
        found = [self.kind(body.shapes[value]) for value in part.inputs]
        names = [f"%d{place}x{i}" for i in range(len(part.inputs))]
        joined = ", ".join(found) if len(found) == 1 else f"({', '.join(found)})"
        own = _backward(given, save, outputs, len(part.inputs), (types, joined))
        lines = [f"    {', '.join(names)} = {own}"]
        for value, result in zip(part.inputs, names, strict=True):
            lines += self._add(value, result, self.kind(body.shapes[value]), gradients)
        return lines

    def _add(self, value: str, gradient: str, type_: str, gradients: Gradients) -> list[str]:
        """One more term of the gradient of a value."""
        if value not in gradients:
            gradients[value] = gradient
            return []
        self.added += 1
        total = f"%z{self.added}"
        line = (
            f"    {total} = tv.add {gradients[value]}, {gradient} : ({type_}, {type_}) -> {type_}"
        )
        gradients[value] = total
        return [line]

    def _program(self) -> list[str]:
        forward, backward = [], []
        for micro_batch in range(self.plan.micro_batches):
            forward.append(self._go_forward(micro_batch))
            backward.append(self._go_backward(micro_batch))
        if not self.plan.forward_first:
            forward = [[*one, *other] for one, other in zip(forward, backward, strict=True)]
            backward = []
        lines = [line for step in [*forward, *backward] for line in step]
        return [f"  tv.program {self.device} {{", *lines, "  }"]

    def _value(self, micro_batch: int, value: tuple[int, int] | None) -> str:
        if value is None:
            return f"%x{micro_batch}"
        count = len(self.plan.bodies[self.plan.calls[value[0]].body].results)
        return _results(f"%v{micro_batch}x{value[0]}", count)[value[1]]

    def _last(self) -> tuple[int, int]:
        call = len(self.plan.calls) - 1
        return call, len(self.plan.bodies[self.plan.calls[call].body].results) - 1

    def _go_forward(self, micro_batch: int) -> list[str]:
        start, size = COLUMNS * self.device, COLUMNS * self.plan.devices
        piece, data = _piece(1, start, COLUMNS, size), self.kind(DATA)
        lines = [
            f'    %x{micro_batch} = tv.load_data cell 1 ["x"] holds [{piece}] : {data}',
        ]
        for number, call in enumerate(self.plan.calls):
            name = self._forward(call.body, self.plan.choice[micro_batch, number, self.device])
            given = [self._value(micro_batch, value) for value in call.arguments]
            results = len(self.plan.bodies[call.body].results)
            instance = 1000 * micro_batch + 2 * number
            lines.append(
                self._call(
                    f"%v{micro_batch}x{number}", name, given, results, instance, instance + 1
                )
            )
        loss, instance = f"%l{micro_batch}", 1000 * micro_batch + 500
        value = self._value(micro_batch, self._last())
        return [
            *lines,
            f"    {loss} = tv.call @{self._loss()}({value}) instance {instance} mirror "
            f"{instance + 1} : ({data}) -> tensor<f32>",
            f'    tv.output {loss} "loss" <2, []> : tensor<f32>',
        ]

    def _call(
        self, result: str, name: str, given: list[str], results: int, instance: int, mirror: int
    ) -> str:
        count = f":{results}" if results > 1 else ""
        found = self.kind(DATA) if results == 1 else f"({self._data(results)})"
        return (
            f"    {result}{count} = tv.call @{name}({', '.join(given)}) instance {instance} "
            f"mirror {mirror} : ({self._data(len(given))}) -> {found}"
        )

    def _loss(self) -> str:
        """The sum of the last value over all devices, and back."""
        name, first = self._name("F", 9, 0)
        back, first_back = self._name("B", 9, 0)
        data = self.kind(DATA)
        self.segments[name] = [
            first,
            f"  ^bb0(%v: {data}):",
            "    %p = tv.reduce sum %v {dimensions = array<i64: 0, 1>} : "
            f"({data}) -> tensor<f32>",
            f"    %l = tv.communicate all_reduce %p group {self.group} : "
            "(tensor<f32>) -> tensor<f32>",
            f"    tv.save 900 from %v to %p : {data} to tensor<f32>",
            "    tv.return %l : tensor<f32>",
            "  }",
        ]
        self.segments[back] = [
            first_back,
            "    %d = tv.seed : tensor<f32>",
            f"    %dv = {_backward(['%d'], 900, [0], 1, ('tensor<f32>', data))}",
            f"    tv.return %dv : {data}",
            "  }",
        ]
        return name

    def _go_backward(self, micro_batch: int) -> list[str]:
        instance, data = 1000 * micro_batch + 500, self.kind(DATA)
        first = f"%y{micro_batch}"
        name = self._name("B", 9, 0)[0]
        lines = [
            f"    {first} = tv.call @{name}() instance {instance + 1} mirror {instance} : "
            f"() -> {data}",
        ]
        gradients = {self._value(micro_batch, self._last()): first}
        for number in reversed(range(len(self.plan.calls))):
            call = self.plan.calls[number]
            count = len(self.plan.bodies[call.body].results)
            values = [self._value(micro_batch, (number, i)) for i in range(count)]
            given = [i for i, value in enumerate(values) if value in gradients]
            copy = self.plan.choice[micro_batch, number, self.device]
            name = self._backward(call.body, copy, given)
            found, instance = f"%h{micro_batch}x{number}", 1000 * micro_batch + 2 * number
            operands = [gradients[values[i]] for i in given]
            results = len(call.arguments)
            lines.append(self._call(found, name, operands, results, instance + 1, instance))
            for value, result in zip(call.arguments, _results(found, results), strict=True):
                if value:
                    lines += self._add(self._value(micro_batch, value), result, data, gradients)
        return lines
