//! Terms and pure formulas. Reads of the heap are total here: whether they are allowed is asked in
//! [`super::checks`].

mod reads;

use front::grow_stack;
use sil::syntax as s;
use spl::program::{
    Annotation, BinaryOp, Bound, Expr, ExprKind, Generator, LocalId, PredicateUse, Quantifier,
    Type, UnaryOp,
};
use spl::source::Span;

use super::Fallible;
use super::member::{Declaration, Env, Value};
use super::prelude::Part;
use super::types::{Key, Slot, spelled};
use crate::build::*;
use crate::lower::expressions::comparison;

impl<'p> Declaration<'_, 'p> {
    /// Returns the value of an expression.
    pub(super) fn term(&mut self, e: &'p Expr, env: &Env) -> Fallible<s::Expr> {
        grow_stack(|| self.term_of(e, &e.ty, env))
    }

    /// Returns the value of an expression where one of type `wanted` is expected: the type of
    /// `null` and `{}` on their own.
    pub(super) fn term_as(&mut self, e: &'p Expr, wanted: &Type, env: &Env) -> Fallible<s::Expr> {
        let ty = if e.ty.has_holes() { wanted } else { &e.ty };
        grow_stack(|| self.term_of(e, ty, env))
    }

    pub(super) fn terms(&mut self, all: &'p [Expr], env: &Env) -> Fallible<Vec<s::Expr>> {
        all.iter().map(|e| self.term(e, env)).collect()
    }

    fn term_of(&mut self, e: &'p Expr, ty: &Type, env: &Env) -> Fallible<s::Expr> {
        Ok(match &e.kind {
            ExprKind::Int(value) => int(value.clone()),
            ExprKind::Bool(value) => truth(*value),
            ExprKind::Emp => truth(true),
            ExprKind::Null => self.null(ty),
            ExprKind::Local(local) => self.value_of(*local, env, e.span)?,
            ExprKind::Global(global) => self.slot(&Slot::Global(*global), env, e.span)?,
            ExprKind::FieldMap(field) => self.slot(&Slot::Field(*field), env, e.span)?,
            ExprKind::FieldRead { receiver, field } => {
                let receiver = self.term(receiver, env)?;
                self.read_field(*field, receiver, env, e.span)?
            }
            ExprKind::Destruct { term, destructor } => {
                let term = self.term(term, env)?;
                field(term, &self.destructor(*destructor))
            }
            ExprKind::Construct { constructor, arguments } => {
                let destructors = &self.program.constructors[*constructor].destructors;
                let arguments = arguments
                    .iter()
                    .zip(destructors)
                    .map(|(e, &to)| self.term_as(e, &self.program.destructors[to].ty, env))
                    .collect::<Fallible<Vec<_>>>()?;
                self.ty(ty);
                call(&spelled(&self.program.constructors[*constructor].name), arguments)
            }
            ExprKind::ArrayLength(array) => self.of_array("length", array, None, env)?,
            ExprKind::CellArray(cell) => self.of_cell("array", cell, env)?,
            ExprKind::CellIndex(cell) => self.of_cell("index", cell, env)?,
            ExprKind::CellContent(cell) => {
                let at = self.term(cell, env)?;
                self.content(&cell.ty, at, env, e.span)?
            }
            ExprKind::Element { array, index } => {
                let cell = self.of_array("cell", array, Some(index), env)?;
                self.content(&cell_type(&array.ty), cell, env, e.span)?
            }
            ExprKind::ArrayCells(array) => self.map_of_array("cellmap", array, None, env)?,
            ExprKind::ArrayMap(array) => {
                let cells = cell_type(&array.ty);
                let contents = self.contents(&cells, env, e.span)?;
                self.map_of_array("contents", array, Some(contents), env)?
            }
            ExprKind::MapRead { map, key } => self.map_read(map, key, env, e.span)?,
            ExprKind::MapUpdate { map, key, value } => {
                let Type::Map(from, to) = &map.ty else {
                    return self.stuck("an update of what is no map", e.span);
                };
                let parts = [
                    self.term(map, env)?,
                    self.term_as(key, from, env)?,
                    self.term_as(value, to, env)?,
                ];
                self.ty(&map.ty);
                self.of_map("wr", (from, to), parts)
            }
            ExprKind::Apply { function, arguments } => {
                self.apply(*function, arguments, env, e.span)?
            }
            ExprKind::Predicate(predicate) => self.pure_predicate(predicate, env, e.span)?,
            ExprKind::Unary { op, operand } => {
                let operand = self.term(operand, env)?;
                match op {
                    UnaryOp::Not => not(operand),
                    UnaryOp::Minus => wrapped(minus(operand), &e.ty),
                    UnaryOp::Plus => operand,
                    UnaryOp::Complement => self.bits("complement", [operand], &e.ty),
                }
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, env, e.span)?,
            ExprKind::Chain { first, rest } => {
                let mut left = self.term(first, env)?;
                let mut all = Vec::new();
                for (op, operand) in rest {
                    let right = self.term(operand, env)?;
                    all.push(binary(comparison(*op), left, right.clone()));
                    left = right;
                }
                and(all)
            }
            ExprKind::And(all) | ExprKind::Star(all) | ExprKind::Overlap(all) => {
                and(self.terms(all, env)?)
            }
            ExprKind::Or(all) => or(self.terms(all, env)?),
            ExprKind::PartOf { part, whole } => {
                and([self.term(part, env)?, self.term(whole, env)?])
            }
            ExprKind::Implies { guard, body } => {
                implies(self.term(guard, env)?, self.term(body, env)?)
            }
            ExprKind::Conditional { condition, then, otherwise } => conditional(
                self.term(condition, env)?,
                self.term_as(then, ty, env)?,
                self.term_as(otherwise, ty, env)?,
            ),
            ExprKind::Old(body) => self.term_as(body, ty, &env.old())?,
            ExprKind::Known(body) => {
                let value = self.term(body, env)?;
                self.known(&body.ty, value)
            }
            ExprKind::Btwn { field, from, via, to } => {
                let Type::Map(sort, _) = &field.ty else {
                    return self.stuck("a path along what is no map", e.span);
                };
                let parts = [
                    self.steps(field, sort, env)?,
                    self.term_as(from, sort, env)?,
                    self.term_as(via, sort, env)?,
                    self.term_as(to, sort, env)?,
                ];
                self.of_type("btwn", sort, parts)
            }
            ExprKind::Reach { field, from, to } => {
                let Type::Map(sort, _) = &field.ty else {
                    return self.stuck("a path along what is no map", e.span);
                };
                let to = self.term_as(to, sort, env)?;
                let field = self.steps(field, sort, env)?;
                let parts = [field, self.term_as(from, sort, env)?, to.clone(), to];
                self.of_type("btwn", sort, parts)
            }
            ExprKind::Frame { except, within, before, after } => {
                let Type::Map(from, to) = &before.ty else {
                    return self.stuck("a frame of what is no map", e.span);
                };
                let set = Type::set((**from).clone());
                let parts = [
                    self.term_as(except, &set, env)?,
                    self.term_as(within, &set, env)?,
                    self.term(before, env)?,
                    self.term(after, env)?,
                ];
                self.lowering.prelude.want(Part::Claim((**from).clone(), (**to).clone()));
                self.of_map("claimed", (from, to), parts)
            }
            ExprKind::Disjoint(left, right) => {
                let element = self.element(left, right);
                let set = Type::set(element.clone());
                let parts = [self.term_as(left, &set, env)?, self.term_as(right, &set, env)?];
                self.of_set("disjoint", &element, parts)
            }
            ExprKind::Set(elements) => self.set_literal(elements, ty, env)?,
            ExprKind::SetComprehension { variable, body }
            | ExprKind::MapComprehension { variable, body } => self.comprehension(
                *variable,
                body,
                matches!(e.kind, ExprKind::SetComprehension { .. }),
                env,
            )?,
            ExprKind::Quantified { quantifier, variables, body } => {
                self.quantified(*quantifier, variables, body, env)?
            }
            ExprKind::Annotated { body, .. } => self.term_as(body, ty, env)?,
            ExprKind::ByteToInt(body) => self.term(body, env)?,
            ExprKind::IntToByte(body) => binary(s::BinaryOp::Mod, self.term(body, env)?, int(256)),
            ExprKind::Access(_) | ExprKind::PointsTo { .. } => {
                return self.stuck("a permission inside a pure formula", e.span);
            }
            ExprKind::Unfolding { .. } => return self.stuck("unfolding in this dialect", e.span),
        })
    }

    /// `null` of a type; where nothing says which, any will do.
    pub(super) fn null(&mut self, ty: &Type) -> s::Expr {
        self.ty(ty);
        self.of_type("null", ty, [])
    }

    /// Returns an operation on bits: a function of which nothing is known.
    fn bits(
        &mut self,
        function: &str,
        operands: impl IntoIterator<Item = s::Expr>,
        ty: &Type,
    ) -> s::Expr {
        self.lowering.prelude.want(Part::Bits);
        wrapped(call(&format!("bits${function}"), operands), ty)
    }

    /// A predicate without permissions is what it stands for.
    fn pure_predicate(
        &mut self,
        predicate: &'p PredicateUse,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let declared = &self.program.predicates[predicate.predicate];
        if declared.ty == Type::Permission {
            return self.stuck("a predicate with permissions inside a pure formula", span);
        }
        let body = match &declared.body {
            Some(body) if !self.lowering.recursive.contains_idx(predicate.predicate) => body,
            _ => return self.closed_formula(predicate, env, span),
        };
        let inner = self.predicate_env(predicate, env)?;
        self.term(body, &inner)
    }

    /// Returns the element type of two sets, one of which may not say.
    fn element(&self, left: &Expr, right: &Expr) -> Type {
        let ty = if left.ty.has_holes() { &right.ty } else { &left.ty };
        match ty {
            Type::Set(element) => (**element).clone(),
            _ => Type::Int,
        }
    }

    fn set_literal(&mut self, elements: &'p [Expr], ty: &Type, env: &Env) -> Fallible<s::Expr> {
        let element = match ty {
            Type::Set(element) if !element.has_holes() => (**element).clone(),
            _ => elements.first().map_or(Type::Int, |first| first.ty.clone()),
        };
        let mut set = None;
        for one in elements {
            let one = self.term_as(one, &element, env)?;
            let one = self.of_set("single", &element, [one]);
            set = Some(match set {
                None => one,
                Some(others) => self.of_set("union", &element, [others, one]),
            });
        }
        Ok(set.unwrap_or_else(|| self.of_set("empty", &element, [])))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &'p Expr,
        right: &'p Expr,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let sides = |member: &mut Self| {
            Ok([member.term_as(left, &right.ty, env)?, member.term_as(right, &left.ty, env)?])
        };
        let of_sets = |member: &mut Self, function: &str| {
            let element = member.element(left, right);
            let set = Type::set(element.clone());
            let parts = [member.term_as(left, &set, env)?, member.term_as(right, &set, env)?];
            Ok(member.of_set(function, &element, parts))
        };
        let plain = match op {
            BinaryOp::Eq | BinaryOp::Ne => {
                if left.ty == Type::Null && right.ty == Type::Null {
                    return Ok(truth(op == BinaryOp::Eq));
                }
                let is_set = matches!(left.ty, Type::Set(_)) || matches!(right.ty, Type::Set(_));
                let same = if is_set {
                    of_sets(self, "same")?
                } else if let (Type::Map(from, to), Type::Map(..)) = (&left.ty, &right.ty)
                    && !left.ty.has_holes()
                {
                    self.lowering.prelude.want(Part::Alike((**from).clone(), (**to).clone()));
                    let sides = sides(self)?;
                    self.of_map("alike", (from, to), sides)
                } else {
                    let [left, right] = sides(self)?;
                    return Ok(if op == BinaryOp::Eq { eq(left, right) } else { ne(left, right) });
                };
                return Ok(if op == BinaryOp::Eq { same } else { not(same) });
            }
            BinaryOp::Subset => return of_sets(self, "subset"),
            BinaryOp::ProperSubset => {
                let subset = of_sets(self, "subset")?;
                let same = of_sets(self, "same")?;
                return Ok(and([subset, not(same)]));
            }
            BinaryOp::Union => return of_sets(self, "union"),
            BinaryOp::Intersection => return of_sets(self, "inter"),
            BinaryOp::Difference => return of_sets(self, "minus"),
            BinaryOp::In => {
                let Type::Set(element) = &right.ty else {
                    return self.stuck("membership in what is no set", span);
                };
                let element = if element.has_holes() { &left.ty } else { &**element };
                let set = Type::set(element.clone());
                let parts = [self.term_as(left, element, env)?, self.term_as(right, &set, env)?];
                return Ok(self.of_set("mem", element, parts));
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                let operands = sides(self)?;
                let function = match op {
                    BinaryOp::BitAnd => "and",
                    BinaryOp::BitOr => "or",
                    BinaryOp::ShiftLeft => "shift_left",
                    _ => "shift_right",
                };
                return Ok(self.bits(function, operands, &left.ty));
            }
            BinaryOp::Iff => s::BinaryOp::Iff,
            BinaryOp::Less => s::BinaryOp::Lt,
            BinaryOp::AtMost => s::BinaryOp::Le,
            BinaryOp::Greater => s::BinaryOp::Gt,
            BinaryOp::AtLeast => s::BinaryOp::Ge,
            BinaryOp::Add => s::BinaryOp::Add,
            BinaryOp::Sub => s::BinaryOp::Sub,
            BinaryOp::Mul => s::BinaryOp::Mul,
            BinaryOp::Div => s::BinaryOp::IntDiv,
            BinaryOp::Mod => s::BinaryOp::Mod,
        };
        let [first, second] = sides(self)?;
        let value = binary(plain, first, second);
        let is_value = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        Ok(if is_value { wrapped(value, &left.ty) } else { value })
    }

    /// Binds variables to new names.
    pub(super) fn bound(&mut self, local: LocalId, env: &Env) -> (s::TypedName, Env) {
        let declared = &self.program.locals[local];
        let name = self.fresh(&declared.name);
        let ty = self.ty(&declared.ty);
        (typed(&name, ty), env.with([(local, Value::Term(var(&name)))]))
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        variables: &'p [Bound],
        body: &'p Expr,
        env: &Env,
    ) -> Fallible<s::Expr> {
        let (mut bound, mut guards, mut env) = (Vec::new(), Vec::new(), env.clone());
        for variable in variables {
            let domain = match &variable.domain {
                Some(domain) => Some(self.term(domain, &env)?),
                None => None,
            };
            let (name, inner) = self.bound(variable.local, &env);
            let value = var(&name.name.name);
            let ty = &self.program.locals[variable.local].ty;
            if *ty == Type::Byte {
                guards.push(and([le(int(0), value.clone()), lt(value.clone(), int(256))]));
            }
            if let Some(domain) = domain {
                guards.push(self.of_set("mem", ty, [value, domain]));
            }
            env = inner;
            bound.push(name);
        }
        let (body, annotations) = annotated(body);
        let mut formula = self.term(body, &env)?;
        let mut triggers = Vec::new();
        let mut known = Vec::new();
        for annotation in annotations {
            self.annotation(annotation, &env, &mut triggers, &mut known)?;
        }
        formula = match quantifier {
            Quantifier::Forall => implies(and(guards), formula),
            Quantifier::Exists => and(guards.into_iter().chain([formula])),
        };
        if quantifier == Quantifier::Exists {
            return Ok(exists(bound, formula));
        }
        let names: Vec<&str> = bound.iter().map(|one| &*one.name.name).collect();
        triggers.retain(|trigger: &Vec<s::Expr>| super::triggers::covers(trigger, &names));
        triggers.extend(super::triggers::of(&names, &formula));
        Ok(forall(bound, triggers, and([formula].into_iter().chain(known))))
    }

    fn annotation(
        &mut self,
        annotation: &'p Annotation,
        env: &Env,
        triggers: &mut Vec<Vec<s::Expr>>,
        known: &mut Vec<s::Expr>,
    ) -> Fallible<()> {
        match annotation {
            Annotation::Pattern(term) => triggers.push(vec![self.term(term, env)?]),
            Annotation::Generator(Generator { terms, result }) => {
                let terms: Vec<&'p Expr> =
                    terms.iter().filter(|e| !matches!(e.kind, ExprKind::Local(_))).collect();
                let terms: Fallible<Vec<s::Expr>> =
                    terms.into_iter().map(|e| self.term(e, env)).collect();
                triggers.push(terms?);
                let value = self.term(result, env)?;
                let mentioned = self.known(&result.ty, value.clone());
                known.push(eq(mentioned, value));
            }
            Annotation::Comment(_) | Annotation::NoInstance(_) => {}
        }
        Ok(())
    }

    /// Returns the map along which a path goes. What is no part of the state has to be mentioned as
    /// no write to another map, as parts of the state are where they begin.
    fn steps(&mut self, map: &'p Expr, sort: &Type, env: &Env) -> Fallible<s::Expr> {
        self.lowering.prelude.want(Part::Reach(sort.clone()));
        let map = self.term(map, env)?;
        let is_slot = [&env.now, &env.before]
            .iter()
            .any(|state| state.slots.values().any(|slot| super::triggers::same(slot, &map)));
        Ok(if is_slot { map } else { self.of_type("unwritten", sort, [map]) })
    }

    /// `known(value)`
    pub(super) fn known(&mut self, ty: &Type, value: s::Expr) -> s::Expr {
        self.lowering.prelude.want(Part::Known(ty.clone()));
        self.of_type("known", ty, [value])
    }

    /// `frame(except, within, before, after)`
    pub(super) fn frame(&mut self, (from, to): (&Type, &Type), parts: [s::Expr; 4]) -> s::Expr {
        let prelude = &mut self.lowering.prelude;
        prelude.want(Part::Frame(from.clone(), to.clone()));
        self.of_map("frame", (from, to), parts)
    }

    /// Returns the name of a destructor: as in SPL, names of locals stay clear of it.
    pub(super) fn destructor(&self, id: spl::program::DestructorId) -> String {
        spelled(&self.program.destructors[id].name)
    }

    /// Returns the part of generated names that stands for a type.
    pub(super) fn key(&self, ty: &Type) -> String {
        Key(self.program, ty).to_string()
    }
}

/// Returns an expression without the annotations around it, and these.
pub(super) fn annotated(e: &Expr) -> (&Expr, Vec<&Annotation>) {
    let (mut e, mut all) = (e, Vec::new());
    while let ExprKind::Annotated { body, annotations } = &e.kind {
        all.extend(annotations);
        e = body;
    }
    (e, all)
}

/// Arithmetic of bytes is modulo 256.
fn wrapped(value: s::Expr, ty: &Type) -> s::Expr {
    if *ty == Type::Byte { binary(s::BinaryOp::Mod, value, int(256)) } else { value }
}

/// Is the right operand a divisor?
pub(super) fn divides(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Div | BinaryOp::Mod)
}

/// Returns the type of the cells of an array.
pub(super) fn cell_type(array: &Type) -> Type {
    match array {
        Type::Array(element) => Type::ArrayCell(element.clone()),
        other => other.clone(),
    }
}
