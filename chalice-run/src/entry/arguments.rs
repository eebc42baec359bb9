//! Values of the entry's parameters, as the command line gives them.

use chalice::program::Type;

use crate::code::index;
use crate::heap::{Holder, ObjectKind};
use crate::machine::Machine;
use crate::value::{Seq, Value};

/// Reads a value: a literal, `null`, `[..]`, `{..}` or `new C { f := .. }`.
///
/// # Errors
/// The words for the argument that was expected.
pub fn read(machine: &mut Machine<'_>, text: &str, ty: &Type) -> Result<Value, String> {
    let mut reader = Reader { machine, rest: text.trim() };
    let value = reader.value(ty, 0)?;
    if reader.rest.is_empty() {
        return Ok(value);
    }
    Err(format!("{} follows the value", shown(reader.rest)))
}

/// The number of shown characters of a mistaken text.
const SHOWN: usize = 40;

/// Shows the text in place of the expected one.
fn shown(rest: &str) -> String {
    match rest.char_indices().nth(SHOWN) {
        _ if rest.is_empty() => "the end".to_owned(),
        Some((end, _)) => format!("`{}…`", &rest[..end]),
        None => format!("`{rest}`"),
    }
}

struct Reader<'m, 'c, 't> {
    machine: &'m mut Machine<'c>,
    rest: &'t str,
}

impl<'t> Reader<'_, '_, 't> {
    fn skip(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.skip(token) {
            Ok(())
        } else {
            Err(format!("`{token}` expected, not {}", shown(self.rest)))
        }
    }

    fn word(&mut self) -> &'t str {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '\'');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn value(&mut self, ty: &Type, depth: u32) -> Result<Value, String> {
        if depth > 100 {
            return Err("a value is nested too deep".to_owned());
        }
        match ty {
            Type::Int => self.integer(),
            Type::Bool => match (self.rest, self.word()) {
                (_, "true") => Ok(Value::Bool(true)),
                (_, "false") => Ok(Value::Bool(false)),
                (rest, _) => Err(format!("`true` or `false` expected, not {}", shown(rest))),
            },
            Type::String => {
                self.expect("\"")?;
                let Some((text, rest)) = self.rest.split_once('"') else {
                    return Err("a text without end".to_owned());
                };
                self.rest = rest.trim_start();
                Ok(Value::Text(text.into()))
            }
            Type::Seq(element) => {
                let elements = self.elements(("[", "]"), element, depth)?;
                Ok(Value::Seq(Seq::Items(elements.into())))
            }
            Type::Set(element) => Ok(Value::set(self.elements(("{", "}"), element, depth)?)),
            _ => self.reference(ty, depth),
        }
    }

    fn integer(&mut self) -> Result<Value, String> {
        let whole = self.rest;
        let is_negative = self.skip("-");
        let number: num_bigint::BigInt = self
            .word()
            .parse()
            .map_err(|_| format!("an integer expected, not {}", shown(whole)))?;
        Ok(Value::int(if is_negative { -number } else { number }))
    }

    fn elements(
        &mut self,
        (open, close): (&str, &str),
        element: &Type,
        depth: u32,
    ) -> Result<Vec<Value>, String> {
        self.expect(open)?;
        let mut elements = Vec::new();
        if self.skip(close) {
            return Ok(elements);
        }
        loop {
            elements.push(self.value(element, depth + 1)?);
            if self.skip(close) {
                return Ok(elements);
            }
            self.expect(",")?;
        }
    }

    fn reference(&mut self, ty: &Type, depth: u32) -> Result<Value, String> {
        match (self.rest, self.word()) {
            (_, "null") => return Ok(Value::Null),
            (_, "new") => {}
            (rest, _) => return Err(format!("`null` or `new` expected, not {}", shown(rest))),
        }
        let Type::Class(class) = ty else { return Err("only objects can be made here".to_owned()) };
        let class = index(*class);
        let code = self.machine.code;
        let described = &code.classes[class as usize];
        let name = self.word();
        if name != described.name {
            return Err(format!("an object of `{}` expected, not of `{name}`", described.name));
        }
        let cells: Vec<Value> = described.cells.iter().map(crate::code::default_value).collect();
        let kind = ObjectKind::Class(class);
        let object = self.machine.allocate_as(None, kind, cells, Holder::Environment);
        if !self.skip("{") || self.skip("}") {
            return Ok(Value::Ref(object));
        }
        loop {
            let field = self.word();
            let declared = described.cell_names.iter().take(described.declared + 1).skip(1);
            let Some(at) = declared.clone().position(|name| name == field) else {
                return Err(format!("`{}` has no field `{field}`", described.name));
            };
            self.expect(":=")?;
            let value = self.value(&described.cells[at + 1], depth + 1)?;
            self.machine.heap.decide(object, at as u32 + 1, value);
            if self.skip("}") {
                return Ok(Value::Ref(object));
            }
            self.expect(",")?;
        }
    }
}
