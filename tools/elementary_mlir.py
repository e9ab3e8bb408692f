#!/usr/bin/env python3
"""Writes src/export/mlir_elementary.inc.h: the f32 elementary functions as MLIR.

  tools/elementary_mlir.py            print it
  tools/elementary_mlir.py --write    replace the file

The functions of src/base/elementary.inc.h are the numeric contract. They are
straight-line C over a small vocabulary (src/base/simd.h), so they can be read
here and said again in the arith and math dialects, operation for operation: a
program that is exported computes the same bits. Only sin and cos of arguments
above 2^16 go to the C library, in double.

Run this after changing elementary.inc.h; tests/mlir fails until it has been run.
"""
import re
import sys

ROOT = __file__.rsplit('/', 2)[0] if '/' in __file__ else '..'
WANTED = ['exp', 'log', 'tanh', 'sigmoid', 'erf', 'sin', 'cos', 'pow']
KINDS = {'VF': 'f32', 'VI': 'i32', 'VM': 'i1', 'VD': 'f64', 'uint64_t': 'i64', 'bool': 'i1', 'int': 'int'}

TOKEN = re.compile(r'''
    (?P<number>0[xX][0-9a-fA-F.]+(?:p[+-]?\d+)?[fu]?|\d+\.?\d*(?:e[+-]?\d+)?[fu]?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<|>>|[-+*/&|^?:=(){},;!<>])''', re.X)


def strip(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*', '', text, flags=re.S)


def tokens_of(text):
    return [(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]


class Value:
    def __init__(self, text, kind, constant=None):
        self.text, self.kind, self.constant = text, kind, constant


class Function:
    def __init__(self, name, params, body):
        self.name, self.params, self.body = name, params, body


def read_functions(text):
    found = {}
    pattern = re.compile(r'static inline (\w+) (\w+)\(([^)]*)\) \{')
    for m in pattern.finditer(text):
        depth, at = 1, m.end()
        while depth:
            depth += {'{': 1, '}': -1}.get(text[at], 0)
            at += 1
        params = []
        for part in filter(None, (p.strip() for p in m.group(3).split(','))):
            kind, name = part.rsplit(' ', 1)
            params.append((name.lstrip('*'), kind.strip(), name.startswith('*')))
        found[m.group(2)] = Function(m.group(2), params, text[m.end():at - 1])
    return found


class Writer:
    """One MLIR function; the same operation on the same operands is written once."""

    def __init__(self, functions, macros):
        self.functions, self.macros = functions, macros
        self.lines, self.known, self.next = [], {}, 0

    def emit(self, text, kind):
        if text in self.known:
            return Value(self.known[text], kind)
        name = '%%%d' % self.next
        self.next += 1
        self.lines.append('  %s = %s' % (name, text))
        self.known[text] = name
        return Value(name, kind)

    def number(self, value, kind):
        if kind == 'f32':
            import struct
            bits = struct.unpack('<I', struct.pack('<f', value))[0]
            return self.emit('arith.constant 0x%08X : f32' % bits, kind)
        if kind == 'f64':
            import struct
            bits = struct.unpack('<Q', struct.pack('<d', value))[0]
            return self.emit('arith.constant 0x%016X : f64' % bits, kind)
        width = {'i32': 32, 'i64': 64}[kind]
        value &= (1 << width) - 1
        if value >> (width - 1):
            value -= 1 << width
        return self.emit('arith.constant %d : %s' % (value, kind), kind)

    def of(self, value, kind):
        """A constant in C takes the kind of what it meets."""
        if value.kind == 'int' or (value.constant is not None and value.kind != kind):
            return self.number(value.constant, kind)
        if value.constant is not None and value.text is None:
            return self.number(value.constant, kind)
        return value

    def binary(self, sign, a, b):
        kind = a.kind if a.kind not in ('int',) and a.text else b.kind
        if a.constant is not None and b.constant is not None and a.text is None and b.text is None:
            if sign in '+-*/':
                result = {'+': a.constant + b.constant, '-': a.constant - b.constant,
                          '*': a.constant * b.constant, '/': a.constant / b.constant if sign == '/' else 0}[sign]
                return Value(None, a.kind, result)
        if kind == 'int':
            kind = 'i64'
        a, b = self.of(a, kind), self.of(b, kind)
        floats = {'+': 'addf', '-': 'subf', '*': 'mulf', '/': 'divf'}
        ints = {'+': 'addi', '-': 'subi', '&': 'andi', '|': 'ori', '^': 'xori', '<<': 'shli', '>>': 'shrui'}
        name = (floats if kind.startswith('f') else ints)[sign]
        return self.emit('arith.%s %s, %s : %s' % (name, a.text, b.text, kind), kind)

    def compare(self, predicate, a, b):
        return self.emit('arith.cmpf %s, %s, %s : %s' % (predicate, a.text, b.text, a.kind), 'i1')

    def select(self, m, a, b):
        return self.emit('arith.select %s, %s, %s : %s' % (m.text, a.text, b.text, a.kind), a.kind)

    def primitive(self, name, args):
        simple = {'vi_add': 'addi', 'vi_sub': 'subi', 'vi_mul': 'muli', 'vi_and': 'andi', 'vi_or': 'ori',
                  'vi_xor': 'xori', 'vm_and': 'andi', 'vm_or': 'ori'}
        orders = {'vf_lt': 'olt', 'vf_le': 'ole', 'vf_gt': 'ogt', 'vf_ge': 'oge', 'vf_eq': 'oeq'}
        wholes = {'vi_eq': 'eq', 'vi_lt': 'slt', 'vi_gt': 'sgt'}
        shifts = {'vi_shl': 'shli', 'vi_shr': 'shrui', 'vi_sar': 'shrsi'}
        if name in ('vf_set', 'vd_set', 'vi_set'):
            return self.of(args[0], {'vf_set': 'f32', 'vd_set': 'f64', 'vi_set': 'i32'}[name])
        if name in simple:
            kind = args[0].kind
            return self.emit('arith.%s %s, %s : %s' % (simple[name], args[0].text, args[1].text, kind), kind)
        if name in orders:
            return self.compare(orders[name], *args)
        if name in wholes:
            return self.emit('arith.cmpi %s, %s, %s : i32' % (wholes[name], args[0].text, args[1].text), 'i1')
        if name in shifts:
            by = self.of(args[1], 'i32')
            return self.emit('arith.%s %s, %s : i32' % (shifts[name], args[0].text, by.text), 'i32')
        if name == 'vf_fma':
            return self.emit('math.fma %s, %s, %s : f32' % tuple(a.text for a in args), 'f32')
        if name == 'vf_fnma':
            return self.primitive('vf_fma', [self.negate(args[0])] + args[1:])
        if name in ('vf_at_most', 'vd_at_most'):
            return self.select(self.compare('olt', args[1], args[0]), args[1], args[0])
        if name in ('vf_at_least', 'vd_at_least'):
            return self.select(self.compare('ogt', args[1], args[0]), args[1], args[0])
        if name == 'vf_isnan':
            return self.compare('uno', args[0], args[0])
        if name in ('vf_select', 'vi_select'):
            return self.select(*args)
        if name == 'vm_not':
            true = self.emit('arith.constant true', 'i1')
            return self.emit('arith.xori %s, %s : i1' % (args[0].text, true.text), 'i1')
        if name == 'vm_andnot':
            return self.primitive('vm_and', [args[0], self.primitive('vm_not', [args[1]])])
        casts = {'vf_as_int': ('arith.bitcast', 'f32', 'i32'), 'vi_as_float': ('arith.bitcast', 'i32', 'f32'),
                 'vf_from_int': ('arith.sitofp', 'i32', 'f32'), 'vd_low': ('arith.extf', 'f32', 'f64'),
                 'vd_high': ('arith.extf', 'f32', 'f64'), 'vf_join': ('arith.truncf', 'f64', 'f32'),
                 'tn_bits_f64': ('arith.bitcast', 'f64', 'i64'), 'tn_double_of_bits': ('arith.bitcast', 'i64', 'f64')}
        if name in casts:
            op, source, target = casts[name]
            return self.emit('%s %s : %s to %s' % (op, args[0].text, source, target), target)
        maths = {'vf_abs': 'absf', 'vf_sqrt': 'sqrt', 'vf_round_even': 'roundeven'}
        if name in maths:
            return self.emit('math.%s %s : f32' % (maths[name], args[0].text), 'f32')
        if name == 'tn_nan_f32':
            return self.emit('arith.constant 0x7FC00000 : f32', 'f32')
        if name == 'tn_infinity_f32':
            return self.emit('arith.constant 0x7F800000 : f32', 'f32')
        if name == 'vm_any':
            return args[0]
        if name == 'vf_map':
            return self.select(args[0], self.large(args[2], args[1]), args[1])
        return None

    def large(self, function, x):
        wide = self.emit('arith.extf %s : f32 to f64' % x.text, 'f64')
        op = 'math.sin' if 'sin' in function else 'math.cos'
        value = self.emit('%s %s : f64' % (op, wide.text), 'f64')
        narrow = self.emit('arith.truncf %s : f64 to f32' % value.text, 'f32')
        nan = self.emit('arith.constant 0x7FC00000 : f32', 'f32')
        return self.select(self.compare('uno', narrow, narrow), nan, narrow)

    def negate(self, x):
        if x.text is None:
            return Value(None, x.kind, -x.constant)
        if x.kind.startswith('f'):
            return self.emit('arith.negf %s : %s' % (x.text, x.kind), x.kind)
        zero = self.number(0, x.kind)
        return self.emit('arith.subi %s, %s : %s' % (zero.text, x.text, x.kind), x.kind)

    def call(self, name, args, outs):
        if name in self.functions and name not in self.overridden():
            return Inliner(self, self.functions[name], args, outs).run()
        made = self.primitive(name, args)
        if made is None:
            raise SystemExit('no word for ' + name)
        return made

    def overridden(self):
        return ('vf_set', 'vd_set', 'vi_set', 'vd_low', 'vd_high', 'vf_join')


class Inliner:
    """Carries one C function out on values of the writer."""

    def __init__(self, writer, function, args, outs):
        self.writer, self.function, self.outs = writer, function, outs
        self.names = {}
        position = 0
        for name, kind, pointer in function.params:
            if not pointer:
                self.names[name] = args[position]
                position += 1
        self.tokens = tokens_of(function.body)
        self.at = 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted and token[1] != wanted:
            raise SystemExit('%s: expected %s, got %s' % (self.function.name, wanted, token[1]))
        self.at += 1
        return token

    def run(self):
        while self.at < len(self.tokens):
            if self.peek() == 'return':
                self.take()
                value = self.expression()
                self.take(';')
                return value
            self.statement()
        return None

    def statement(self):
        if self.peek() == '*':
            self.take()
            name = self.take()[1]
            self.take('=')
            self.outs[name] = self.expression()
            self.take(';')
        elif self.peek() in KINDS:
            kind = KINDS[self.take()[1]]
            while True:
                name = self.take()[1]
                if self.peek() == '=':
                    self.take()
                    value = self.expression()
                    if value.text is None:
                        value = self.writer.of(value, kind)
                    self.names[name] = value
                if self.take()[1] == ';':
                    break
        else:
            name = self.take()[1]
            self.take('=')
            self.names[name] = self.expression()
            self.take(';')

    def expression(self):
        value = self.order(0)
        if self.peek() == '?':
            self.take()
            yes = self.expression()
            self.take(':')
            no = self.expression()
            return self.writer.select(value, yes, no)
        return value

    LEVELS = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/']]

    def order(self, level):
        if level == len(self.LEVELS):
            return self.unary()
        left = self.order(level + 1)
        while self.peek() in self.LEVELS[level]:
            sign = self.take()[1]
            left = self.writer.binary(sign, left, self.order(level + 1))
        return left

    def unary(self):
        if self.peek() == '-':
            self.take()
            return self.writer.negate(self.unary())
        if self.peek() == '*':      # *r, an out parameter that has been set
            self.take()
            return self.outs[self.take()[1]]
        return self.primary()

    def primary(self):
        if self.peek() == '(':
            self.take()
            value = self.expression()
            self.take(')')
            return value
        kind, text = self.take()
        if kind == 'number':
            return number_of(text)
        if self.peek() == '(' and text == 'K':
            self.take()
            value = self.expression()
            self.take(')')
            return self.writer.of(value, 'f32')
        if self.peek() == '(':
            return self.application(text)
        if text in self.names:
            return self.names[text]
        if text in self.writer.macros:
            return number_of(self.writer.macros[text])
        if text == 'INT32_MIN':
            return Value(None, 'int', -2**31)
        return text                 # the name of a function that is passed on

    def application(self, name):
        self.take('(')
        args, outs, targets = [], {}, []
        while self.peek() != ')':
            if self.peek() == '&':
                self.take()
                targets.append(self.take()[1])
            else:
                args.append(self.expression())
            if self.peek() == ',':
                self.take()
        self.take(')')
        value = self.writer.call(name, args, outs)
        if targets:
            pointers = [p[0] for p in self.writer.functions[name].params if p[2]]
            for target, pointer in zip(targets, pointers):
                self.names[target] = outs[pointer]
        return value


def number_of(text):
    bare = text.rstrip('f') if 'x' not in text.lower() or 'p' in text else text
    bare = bare.rstrip('u')
    if 'p' in bare:
        return Value(None, 'float', float.fromhex(bare))
    if bare.lower().startswith('0x'):
        return Value(None, 'int', int(bare, 16))
    if '.' in bare or 'e' in bare:
        return Value(None, 'float', float(bare))
    return Value(None, 'int', int(bare))


def read(path):
    with open(ROOT + '/' + path, encoding='utf-8') as file:
        return strip(file.read())


def main():
    source = read('src/base/elementary.inc.h')
    functions = read_functions(source)
    shared = read_functions(read('src/base/simd.h'))
    scalar = read_functions(read('src/base/simd_scalar.inc.h'))
    for name in ('vf_sign', 'vf_with_sign', 'vf_flip_sign', 'vf_clamp', 'vf_size_at_most', 'vf_pow2', 'vf_scale'):
        functions[name] = shared[name]
    for name in ('vd_pow2', 'vd_split'):
        functions[name] = scalar[name]
    macros = dict(re.findall(r'#define (\w+) (0x\S+)', source))
    out = ['/* export/mlir_elementary.inc.h: the f32 elementary functions in MLIR.',
           ' *',
           ' * Written by tools/elementary_mlir.py from base/elementary.inc.h; not to be edited. Each',
           ' * operation stands for one of the C source, so the bits are the same. */',
           '#include <stddef.h>', '']
    for name in WANTED:
        writer = Writer(functions, macros)
        params = [p[0] for p in functions['vf_' + name].params]
        args = [Value('%' + p, 'f32') for p in params]
        result = Inliner(writer, functions['vf_' + name], args, {}).run()
        heading = 'func.func private @tern_%s_f32(%s) -> f32 {' % (name, ', '.join('%' + p + ': f32' for p in params))
        out.append('static const char *const elementary_%s[] = {' % name)
        for line in [heading] + writer.lines + ['  return %s : f32' % result.text, '}']:
            out.append('  "%s",' % line)
        out += ['  NULL', '};']
    text = '\n'.join(out) + '\n'
    if '--write' in sys.argv[1:]:
        with open(ROOT + '/src/export/mlir_elementary.inc.h', 'w', encoding='utf-8') as file:
            file.write(text)
    else:
        sys.stdout.write(text)


main()
