//! Terms as text, for people who look for mistakes. The text is in the style of SMT-LIB. Long or
//! deep terms are cut off.

use std::fmt;

use super::{Quant, Sort, SortKind, Term, TermKind, Terms};

/// The room that is left. Beyond it, terms are shown as their numbers.
struct Room {
    depth: usize,
    nodes: usize,
}

/// A term with its arena, to be formatted.
pub struct Shown<'a> {
    terms: &'a Terms,
    term: Term,
}

impl Terms {
    /// Returns the term as text.
    pub fn display(&self, term: Term) -> Shown<'_> {
        Shown { terms: self, term }
    }

    /// Returns the sort as text, unique in the arena; also its name for the prover.
    pub fn sort_name(&self, sort: Sort) -> String {
        let names = |sorts: &[Sort]| {
            sorts.iter().map(|&sort| self.sort_name(sort)).collect::<Vec<_>>().join(",")
        };
        super::grow_stack(|| match self.sort_kind(sort) {
            SortKind::Bool => "Bool".to_owned(),
            SortKind::Int => "Int".to_owned(),
            SortKind::Perm => "Perm".to_owned(),
            SortKind::Ref => "Ref".to_owned(),
            SortKind::Snap => "Snap".to_owned(),
            SortKind::Seq(e) => format!("Seq<{}>", self.sort_name(*e)),
            SortKind::Set(e) => format!("Set<{}>", self.sort_name(*e)),
            SortKind::Multiset(e) => format!("Multiset<{}>", self.sort_name(*e)),
            SortKind::Map(k, v) => format!("Map<{},{}>", self.sort_name(*k), self.sort_name(*v)),
            SortKind::User { name, args } if args.is_empty() => name.to_string(),
            SortKind::User { name, args } => format!("{name}<{}>", names(args)),
            SortKind::Backend(text) => text.to_string(),
        })
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, term: Term, room: &mut Room) -> fmt::Result {
        if room.depth == 0 || room.nodes == 0 {
            return write!(f, "…{}", term.index());
        }
        room.depth -= 1;
        room.nodes -= 1;
        self.show_here(f, term, room)?;
        room.depth += 1;
        Ok(())
    }

    fn show_here(&self, f: &mut fmt::Formatter<'_>, term: Term, room: &mut Room) -> fmt::Result {
        match self.kind(term) {
            TermKind::Bool(value) => write!(f, "{value}"),
            TermKind::Int(value) => write!(f, "{value}"),
            TermKind::Perm(value) => write!(f, "{value}p"),
            TermKind::Apply(symbol, args) if args.is_empty() => {
                write!(f, "{}", self.declaration(*symbol).name)
            }
            TermKind::Quantifier(quantifier) => {
                let word = match quantifier.quant {
                    Quant::Forall => "forall",
                    Quant::Exists => "exists",
                };
                write!(f, "({word} (")?;
                for (i, &symbol) in quantifier.variables.iter().enumerate() {
                    let declaration = self.declaration(symbol);
                    let space = if i > 0 { " " } else { "" };
                    let sort = self.sort_name(declaration.result);
                    write!(f, "{space}({} {sort})", declaration.name)?;
                }
                f.write_str(")")?;
                for trigger in &quantifier.triggers {
                    f.write_str(" {")?;
                    for (i, &part) in trigger.iter().enumerate() {
                        f.write_str(if i > 0 { " " } else { "" })?;
                        self.show(f, part, room)?;
                    }
                    f.write_str("}")?;
                }
                f.write_str(" ")?;
                self.show(f, quantifier.body, room)?;
                f.write_str(")")
            }
            kind => {
                let head = self.head(kind);
                let operands = kind.operands();
                if operands.is_empty() {
                    return f.write_str(&head);
                }
                write!(f, "({head}")?;
                for operand in operands {
                    f.write_str(" ")?;
                    self.show(f, operand, room)?;
                }
                f.write_str(")")
            }
        }
    }

    /// Returns the word that shows a form.
    fn head(&self, kind: &TermKind) -> String {
        use TermKind::*;
        match kind {
            Apply(symbol, _) => self.declaration(*symbol).name.to_string(),
            Theory(op, ..) => format!("{op:?}"),
            Unwrap(_, sort) => format!("unwrap<{}>", self.sort_name(*sort)),
            IsWrapped(_, sort) => format!("is<{}>", self.sort_name(*sort)),
            Null => "null".to_owned(),
            Unit => "unit".to_owned(),
            Pair(..) => "pair".to_owned(),
            First(_) => "fst".to_owned(),
            Second(_) => "snd".to_owned(),
            IsPair(_) => "is_pair".to_owned(),
            Wrap(_) => "wrap".to_owned(),
            Not(_) => "not".to_owned(),
            And(_) => "and".to_owned(),
            Or(_) => "or".to_owned(),
            Implies(..) => "=>".to_owned(),
            Ite(..) => "ite".to_owned(),
            Eq(..) => "=".to_owned(),
            Distinct(_) => "distinct".to_owned(),
            Add(..) => "+".to_owned(),
            Sub(..) => "-".to_owned(),
            Mul(..) => "*".to_owned(),
            Lt(..) => "<".to_owned(),
            Le(..) => "<=".to_owned(),
            IntDiv(..) => "div".to_owned(),
            IntMod(..) => "mod".to_owned(),
            PermDiv(..) => "/".to_owned(),
            PermMin(..) => "min".to_owned(),
            IntToPerm(_) => "to_perm".to_owned(),
            Bool(_) | Int(_) | Perm(_) | Quantifier(_) => unreachable!("shown by their values"),
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.terms.show(f, self.term, &mut Room { depth: 40, nodes: 2000 })
    }
}
