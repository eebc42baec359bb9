//! Writing a parsed tree as text that parses to the same tree.
//!
//! Parentheses stand where the tree needs them, semicolons after every statement and declaration,
//! since some of them would otherwise run into what follows. Adjacent brackets are kept apart where
//! they would read as one delimiter.

mod expr;
mod stmt;

use super::{
    Channel, Class, Declaration, Expr, Formal, Ident, MemberKind, Program, Signature, Spec,
    SpecKind, TypeExpr, TypeExprKind,
};

/// Returns the program as text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    for declaration in &program.declarations {
        match declaration {
            Declaration::Class(class) => printer.class(class),
            Declaration::Channel(channel) => printer.channel(channel),
        }
    }
    printer.text
}

/// Returns the text of a class.
pub(crate) fn class_text(class: &Class) -> String {
    text(|printer| printer.class(class))
}

/// Returns the text of an expression.
pub(crate) fn expr_text(e: &Expr) -> String {
    text(|printer| printer.expr(e))
}

/// Returns the text of a type.
pub(crate) fn type_text(ty: &TypeExpr) -> String {
    text(|printer| printer.type_expr(ty))
}

fn text(print: impl FnOnce(&mut Printer)) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    print(&mut printer);
    printer.text
}

struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Begins a line.
    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.indent));
    }

    /// Items with commas between them.
    fn list<T>(&mut self, items: &[T], print: fn(&mut Self, &T)) {
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                self.put(", ");
            }
            print(self, item);
        }
    }

    fn ident(&mut self, ident: &Ident) {
        self.put(&ident.name);
    }

    /// Prints a text in braces, indented.
    fn braces(&mut self, print: impl FnOnce(&mut Self)) {
        self.put("{");
        self.indent += 1;
        print(self);
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    fn class(&mut self, class: &Class) {
        if class.is_external {
            self.put("external ");
        }
        self.put("class ");
        self.ident(&class.name);
        for (word, name) in [(" module ", &class.module), (" refines ", &class.refines)] {
            if let Some(name) = name {
                self.put(word);
                self.ident(name);
            }
        }
        self.put(" ");
        self.braces(|printer| {
            for member in &class.members {
                printer.line();
                printer.member(&member.kind);
            }
        });
        self.put("\n");
    }

    fn channel(&mut self, channel: &Channel) {
        self.put("channel ");
        self.ident(&channel.name);
        self.formals(&channel.parameters);
        if let Some(clause) = &channel.where_clause {
            self.put(" where ");
            self.expr(clause);
        }
        self.put(";\n");
    }

    fn formals(&mut self, formals: &[Formal]) {
        self.put("(");
        self.list(formals, Self::formal);
        self.put(")");
    }

    fn formal(&mut self, formal: &Formal) {
        self.ident(&formal.name);
        if let Some(ty) = &formal.ty {
            self.put(": ");
            self.type_expr(ty);
        }
    }

    fn member(&mut self, member: &MemberKind) {
        match member {
            MemberKind::Field { is_tracked, is_ghost, formal, .. } => {
                self.put(if *is_tracked { "tracked " } else { "" });
                self.put(if *is_ghost { "ghost var " } else { "var " });
                self.formal(formal);
                self.put(";");
            }
            MemberKind::Invariant(invariant) => {
                self.put("invariant ");
                self.expr(invariant);
                self.put(";");
            }
            MemberKind::Method { signature, body } => {
                self.put("method ");
                self.signature(signature);
                self.block(body);
            }
            MemberKind::Condition { name, where_clause } => {
                self.put("condition ");
                self.ident(name);
                if let Some(clause) = where_clause {
                    self.put(" where ");
                    self.expr(clause);
                }
                self.put(";");
            }
            MemberKind::Predicate { name, body } => {
                self.put("predicate ");
                self.ident(name);
                self.put(" { ");
                self.expr(body);
                self.put(" }");
            }
            MemberKind::Function { is_unlimited, is_static, signature, result, body } => {
                self.put(if *is_unlimited { "unlimited " } else { "" });
                self.put(if *is_static { "static function " } else { "function " });
                self.ident(&signature.name);
                self.formals(&signature.parameters);
                self.put(": ");
                self.type_expr(result);
                self.specs(&signature.specs);
                if let Some(body) = body {
                    self.put(" { ");
                    self.expr(body);
                    self.put(" }");
                }
            }
            MemberKind::Coupling { fields, invariant } => {
                self.put("replaces ");
                self.list(fields, Self::ident);
                self.put(" by ");
                self.expr(invariant);
                self.put(";");
            }
            MemberKind::Refine { signature, body } => {
                self.put("refines ");
                self.signature(signature);
                self.block(body);
            }
            MemberKind::Transform { signature, pattern } => {
                self.put("transforms ");
                self.signature(signature);
                self.pattern(pattern);
            }
        }
    }

    fn signature(&mut self, signature: &Signature) {
        self.ident(&signature.name);
        self.formals(&signature.parameters);
        if !signature.results.is_empty() {
            self.put(" returns ");
            self.formals(&signature.results);
        }
        self.specs(&signature.specs);
        self.line();
    }

    /// Clauses, each on a line of its own.
    fn specs(&mut self, specs: &[Spec]) {
        self.indent += 1;
        for spec in specs {
            self.line();
            match &spec.kind {
                SpecKind::Requires(clause) => {
                    self.put("requires ");
                    self.expr(clause);
                }
                SpecKind::Ensures(clause) => {
                    self.put("ensures ");
                    self.expr(clause);
                }
                SpecKind::Invariant(clause) => {
                    self.put("invariant ");
                    self.expr(clause);
                }
                SpecKind::LockChange(locks) => {
                    self.put("lockchange ");
                    self.list(locks, Self::expr);
                }
                SpecKind::Decreases(measures) => {
                    self.put("decreases ");
                    self.list(measures, Self::expr);
                }
            }
            self.put(";");
        }
        self.indent -= 1;
    }

    fn type_expr(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::Int => self.put("int"),
            TypeExprKind::Bool => self.put("bool"),
            TypeExprKind::String => self.put("string"),
            TypeExprKind::Name(name) => self.put(name),
            TypeExprKind::Seq(arguments) => self.type_arguments("seq<", arguments),
            TypeExprKind::Set(arguments) => self.type_arguments("set<", arguments),
            TypeExprKind::Token { class, method } => {
                self.put("token<");
                self.type_expr(class);
                self.put(".");
                self.ident(method);
                self.put(">");
            }
        }
    }

    fn type_arguments(&mut self, name: &str, arguments: &[TypeExpr]) {
        self.put(name);
        front::grow_stack(|| self.list(arguments, Self::type_expr));
        self.put(">");
    }
}
