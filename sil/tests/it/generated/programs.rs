//! Programs made at random, well-typed by construction.
//!
//! A program is made from a string of bytes: each choice takes one, and where they end, everything
//! is as simple as can be. So shrinking the bytes shrinks the program.

mod expressions;

use sil::build::*;
use sil::syntax::{
    Adt, BinaryOp, Block, Domain, Expr, Function, Member, Method, Predicate, Program, Stmt,
    StmtKind, Type, TypeKind,
};

/// The program of some bytes.
pub(crate) fn program(bytes: &[u8]) -> Program {
    let mut maker = Maker { bytes: bytes.iter(), scope: Vec::new(), place: Place::Pure, fresh: 0 };
    let mut program: Program = declarations().into_iter().collect();
    for number in 0..=maker.pick(3) {
        program.members.push(maker.function(number));
        program.members.push(maker.predicate(number));
        program.members.push(maker.method(number));
    }
    program
}

/// The declarations of every program, for the random parts to use.
fn declarations() -> Vec<Member> {
    let list = || Type::named("List", [domain_type("T")]);
    let boxed = || Type::named("Box", [domain_type("T")]);
    let unboxed = || call("unbox", [call("box", [var("t")])]);
    vec![
        field_member("val", TypeKind::Int),
        field_member("flag", TypeKind::Bool),
        field_member("part", TypeKind::Perm),
        field_member("next", TypeKind::Ref),
        field_member("items", Type::seq(TypeKind::Int)),
        Domain::new("Box")
            .parameter("T")
            .function(domain_function("box", [typed("t", domain_type("T"))], boxed()))
            .function(domain_function("unbox", [typed("b", boxed())], domain_type("T")))
            .axiom(axiom(
                "unboxes",
                forall(
                    [typed("t", domain_type("T"))],
                    [vec![call("box", [var("t")])]],
                    eq(unboxed(), var("t")),
                ),
            ))
            .into(),
        Adt::new("List")
            .parameter("T")
            .constructor("Nil", [])
            .constructor("Cons", [typed("head", domain_type("T")), typed("tail", list())])
            .into(),
        Predicate::new("node")
            .formal("x", TypeKind::Ref)
            .body(and([
                acc(field(var("x"), "val"), write()),
                acc(field(var("x"), "next"), write()),
            ]))
            .into(),
        Predicate::new("opaque").formal("x", TypeKind::Ref).formal("i", TypeKind::Int).into(),
        Function::new("size", TypeKind::Int)
            .formal("x", TypeKind::Ref)
            .requires(acc(call("node", [var("x")]), wildcard()))
            .into(),
        Method::new("swap")
            .formal("x", TypeKind::Ref)
            .formal("i", TypeKind::Int)
            .returns("j", TypeKind::Int)
            .returns("b", TypeKind::Bool)
            .into(),
    ]
}

/// A type of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
enum T {
    Int,
    Bool,
    Perm,
    Ref,
    Seq(Box<T>),
    Set(Box<T>),
    Multiset(Box<T>),
    Map(Box<T>, Box<T>),
    Boxed(Box<T>),
    List(Box<T>),
}

impl T {
    fn written(&self) -> Type {
        match self {
            Self::Int => TypeKind::Int.into(),
            Self::Bool => TypeKind::Bool.into(),
            Self::Perm => TypeKind::Perm.into(),
            Self::Ref => TypeKind::Ref.into(),
            Self::Seq(element) => Type::seq(element.written()),
            Self::Set(element) => Type::set(element.written()),
            Self::Multiset(element) => Type::multiset(element.written()),
            Self::Map(key, value) => Type::map(key.written(), value.written()),
            Self::Boxed(content) => Type::named("Box", [content.written()]),
            Self::List(element) => Type::named("List", [element.written()]),
        }
    }
}

/// Where an expression stands decides what may be in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A function: nothing about states.
    Pure,
    /// A precondition or a predicate.
    Before,
    /// A postcondition or an invariant.
    After,
    /// The body of a method.
    Body,
}

struct Maker<'b> {
    bytes: std::slice::Iter<'b, u8>,
    scope: Vec<(String, T)>,
    place: Place,
    fresh: usize,
}

impl Maker<'_> {
    /// A number below `count`; 0 when the bytes are used up.
    fn pick(&mut self, count: usize) -> usize {
        self.bytes.next().map_or(0, |&byte| usize::from(byte) % count)
    }

    fn fresh(&mut self, hint: &str) -> String {
        self.fresh += 1;
        format!("{hint}{}", self.fresh)
    }

    fn ty(&mut self, depth: usize) -> T {
        let kinds = if depth == 0 { 4 } else { 10 };
        let inner = |maker: &mut Self| Box::new(maker.ty(depth - 1));
        match self.pick(kinds) {
            0 => T::Int,
            1 => T::Bool,
            2 => T::Ref,
            3 => T::Perm,
            4 => T::Seq(inner(self)),
            5 => T::Set(inner(self)),
            6 => T::Multiset(inner(self)),
            7 => T::Map(inner(self), inner(self)),
            8 => T::Boxed(inner(self)),
            _ => T::List(inner(self)),
        }
    }

    /// Runs `inside` with a variable that is visible in it only.
    fn with<R>(&mut self, name: &str, ty: T, inside: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.scope.len();
        self.scope.push((name.to_owned(), ty));
        let result = inside(self);
        self.scope.truncate(before);
        result
    }

    fn formals(&mut self) -> Vec<(String, T)> {
        let mut formals = vec![("x".to_owned(), T::Ref), ("n".to_owned(), T::Int)];
        for _ in 0..self.pick(3) {
            formals.push((self.fresh("a"), self.ty(2)));
        }
        formals
    }

    fn function(&mut self, number: usize) -> Member {
        let formals = self.formals();
        let result = self.ty(2);
        let mut function = Function::new(&format!("f{number}"), result.written());
        for (name, ty) in &formals {
            function = function.formal(name, ty.written());
        }
        self.scope = formals;
        self.place = Place::Pure;
        for _ in 0..self.pick(2) {
            function = function.requires(self.expr(&T::Bool, 2));
        }
        if self.pick(4) > 0 {
            function = function.body(self.expr(&result, 4));
        }
        function.into()
    }

    fn predicate(&mut self, number: usize) -> Member {
        let formals = self.formals();
        let mut predicate = Predicate::new(&format!("p{number}"));
        for (name, ty) in &formals {
            predicate = predicate.formal(name, ty.written());
        }
        self.scope = formals;
        self.place = Place::Before;
        predicate.body(self.assertion(3)).into()
    }

    fn method(&mut self, number: usize) -> Member {
        let formals = self.formals();
        let mut method = Method::new(&format!("m{number}"));
        for (name, ty) in &formals {
            method = method.formal(name, ty.written());
        }
        self.scope = formals;
        self.place = Place::Before;
        for _ in 0..self.pick(3) {
            method = method.requires(self.assertion(3));
        }
        let result = self.ty(2);
        method = method.returns("r", result.written());
        self.scope.push(("r".to_owned(), result));
        self.place = Place::After;
        for _ in 0..self.pick(3) {
            method = method.ensures(self.assertion(3));
        }
        self.place = Place::Body;
        // Parameters cannot be assigned to.
        let targets = self.scope.len() - 1;
        if self.pick(8) > 0 {
            method = method.body(self.statements(3, targets));
        }
        let member = Member::from(method);
        if self.pick(4) == 1 {
            return member.with(annotation("note", vec!["of a member".into()]));
        }
        member
    }

    /// Statements that assign to variables from number `targets` of the scope on.
    fn statements(&mut self, depth: usize, targets: usize) -> Vec<Stmt> {
        let before = self.scope.len();
        let count = self.pick(6);
        let mut statements = Vec::new();
        for _ in 0..count {
            let statement = self.statement(depth, targets);
            let statement = if self.pick(12) == 1 {
                statement.with(annotation("note", vec!["of a statement".into()]))
            } else {
                statement
            };
            statements.push(statement);
        }
        self.scope.truncate(before);
        statements
    }

    fn statement(&mut self, depth: usize, targets: usize) -> Stmt {
        let kinds = if depth == 0 { 14 } else { 18 };
        match self.pick(kinds) {
            0 => assert(self.assertion(3)),
            1 => inhale(self.assertion(3)),
            2 => exhale(self.assertion(3)),
            3 => assume(self.expr(&T::Bool, 3)),
            4 => refute(self.expr(&T::Bool, 3)),
            5 => {
                let (name, ty) = (self.fresh("v"), self.ty(2));
                let value = (self.pick(3) > 0).then(|| self.expr(&ty, 3));
                let statement = declare(&name, ty.written(), value);
                self.scope.push((name, ty));
                statement
            }
            6 | 7 => {
                let number = targets + self.pick(self.scope.len() - targets);
                let (name, ty) = self.scope[number].clone();
                assign(var(&name), self.expr(&ty, 3))
            }
            8 => {
                let (receiver, (name, ty)) = (self.expr(&T::Ref, 2), self.field());
                assign(field(receiver, name), self.expr(&ty, 3))
            }
            9 => {
                let access = self.predicate_access();
                if self.pick(2) == 0 { fold(access) } else { unfold(access) }
            }
            10 => {
                let name = self.fresh("o");
                let fields: &[_] =
                    if self.pick(2) == 0 { &[] } else { &["val".into(), "next".into()] };
                let statement = declare(&name, TypeKind::Ref, Some(new_object(fields)));
                self.scope.push((name, T::Ref));
                statement
            }
            11 => {
                let (j, b) = (self.fresh("j"), self.fresh("b"));
                let arguments = [self.expr(&T::Ref, 2), self.expr(&T::Int, 2)];
                let call = call_method([var(&j), var(&b)], "swap", arguments);
                let declared =
                    [declare(&j, TypeKind::Int, None), declare(&b, TypeKind::Bool, None)];
                block_stmt(declared.into_iter().chain([call]))
            }
            12 => {
                let condition = (self.pick(2) > 0).then(|| self.expr(&T::Bool, 2));
                let receiver = self.expr(&T::Ref, 1);
                quasihavoc(condition, field(receiver, "val"))
            }
            13 => {
                let name = self.fresh("l");
                let inside = old_at(&name, self.expr(&T::Int, 2));
                block_stmt([label(&name), assert(eq(inside.clone(), inside))])
            }
            14 | 15 => {
                let condition = self.expr(&T::Bool, 3);
                let then = self.statements(depth - 1, targets);
                branch(condition, then, self.statements(depth - 1, targets))
            }
            16 => {
                let condition = self.expr(&T::Bool, 2);
                self.place = Place::After;
                let invariants: Vec<Expr> = (0..self.pick(3)).map(|_| self.assertion(2)).collect();
                self.place = Place::Body;
                while_loop(condition, invariants, self.statements(depth - 1, targets))
            }
            _ => {
                let block =
                    Block { statements: self.statements(depth - 1, targets), ..Block::default() };
                Stmt { annotations: Vec::new(), kind: StmtKind::Block(block), span: ident("").span }
            }
        }
    }

    fn field(&mut self) -> (&'static str, T) {
        match self.pick(5) {
            0 => ("val", T::Int),
            1 => ("next", T::Ref),
            2 => ("flag", T::Bool),
            3 => ("part", T::Perm),
            _ => ("items", T::Seq(Box::new(T::Int))),
        }
    }

    fn predicate_access(&mut self) -> Expr {
        let node = call("node", [self.expr(&T::Ref, 1)]);
        let amount = self.amount();
        acc(node, amount)
    }

    fn amount(&mut self) -> Expr {
        match self.pick(5) {
            0 => write(),
            1 => int(1) / int(2),
            2 => wildcard(),
            3 => none(),
            _ => self.expr(&T::Perm, 1),
        }
    }

    /// An assertion, with permissions.
    fn assertion(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.expr(&T::Bool, 1);
        }
        match self.pick(11) {
            0 | 1 => self.expr(&T::Bool, depth),
            2 | 3 => {
                let (receiver, (name, _)) = (self.expr(&T::Ref, 1), self.field());
                let amount = self.amount();
                acc(field(receiver, name), amount)
            }
            4 => self.predicate_access(),
            5 => {
                let arguments = [self.expr(&T::Ref, 1), self.expr(&T::Int, 1)];
                acc(call("opaque", arguments), self.amount())
            }
            6 | 7 => {
                let count = 2 + self.pick(2);
                let conjuncts: Vec<Expr> = (0..count).map(|_| self.assertion(depth - 1)).collect();
                and(conjuncts)
            }
            8 => {
                let guard = self.expr(&T::Bool, depth - 1);
                binary(BinaryOp::Implies, guard, self.assertion(depth - 1))
            }
            9 => {
                let condition = self.expr(&T::Bool, depth - 1);
                let then = self.assertion(depth - 1);
                conditional(condition, then, self.assertion(depth - 1))
            }
            _ => {
                let name = self.fresh("q");
                let set = self.expr(&T::Set(Box::new(T::Ref)), 1);
                let amount = if self.pick(2) == 0 { write() } else { int(1) / int(2) };
                let access = acc(field(var(&name), "val"), amount);
                let guard = contains(&set, &var(&name));
                let trigger = (self.pick(2) == 0).then(|| vec![field(var(&name), "val")]);
                forall([typed(&name, TypeKind::Ref)], trigger, implies(guard, access))
            }
        }
    }
}
