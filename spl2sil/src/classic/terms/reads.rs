//! Values of variables, and reads of the heap, of arrays and of maps.

use sil::syntax as s;
use spl::program::{Expr, ExprKind, FieldId, LocalId, Type};
use spl::source::Span;

use super::super::member::{Declaration, Env, Value};
use super::super::prelude::Part;
use super::super::types::Slot;
use super::super::{Fallible, Stuck};
use super::cell_type;
use crate::build::*;

impl<'p> Declaration<'_, 'p> {
    /// Returns the value of a variable.
    pub(in crate::classic) fn value_of(
        &mut self,
        local: LocalId,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        match env.values.get(&local) {
            Some(Value::Term(term)) => Ok(term.clone()),
            Some(Value::Hole(hole)) => self.bindings.get(hole).cloned().ok_or_else(|| {
                let name = &self.program.locals[local].name;
                let construct = format!("`{name}`, whose value nothing determines,");
                Stuck { unbound: Some(*hole), ..Stuck::new(construct, span) }
            }),
            None => Ok(var(&self.local(local))),
        }
    }

    /// Returns a part of the state.
    pub(in crate::classic) fn slot(
        &mut self,
        slot: &Slot,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        match env.now.slots.get(slot) {
            Some(value) => Ok(value.clone()),
            None => {
                let name = slot.name(self.program);
                self.stuck(format!("`{name}`, which depends on the state, here"), span)
            }
        }
    }

    /// `receiver.field`
    pub(in crate::classic) fn read_field(
        &mut self,
        id: FieldId,
        receiver: s::Expr,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let slot = self.slot(&Slot::Field(id), env, span)?;
        let declared = &self.program.fields[id];
        let from = Type::Struct(declared.parent);
        self.ty(&Type::Map(Box::new(from.clone()), Box::new(declared.ty.clone())));
        Ok(self.of_map("rd", (&from, &declared.ty), [slot, receiver]))
    }

    /// Returns the content of a cell.
    pub(in crate::classic) fn content(
        &mut self,
        cell: &Type,
        at: s::Expr,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        let slot = self.contents(cell, env, span)?;
        let Type::ArrayCell(element) = cell else {
            return self.stuck("the content of what is no cell", span);
        };
        self.ty(&Type::Map(Box::new(cell.clone()), element.clone()));
        Ok(self.of_map("rd", (cell, element), [slot, at]))
    }

    /// Returns the contents of all cells of a type.
    pub(super) fn contents(&mut self, cell: &Type, env: &Env, span: Span) -> Fallible<s::Expr> {
        match cell {
            Type::ArrayCell(element) => self.slot(&Slot::Cells((**element).clone()), env, span),
            _ => self.stuck("the content of what is no cell", span),
        }
    }

    /// Returns the cells of an array, or what they hold, as a map from integers.
    pub(super) fn map_of_array(
        &mut self,
        function: &str,
        array: &'p Expr,
        contents: Option<s::Expr>,
        env: &Env,
    ) -> Fallible<s::Expr> {
        let Type::Array(element) = &array.ty else {
            return self.stuck("the map of what is no array", array.span);
        };
        let cell = cell_type(&array.ty);
        let part = match contents {
            None => Part::ArrayCells((**element).clone()),
            Some(_) => Part::ArrayContents((**element).clone()),
        };
        let value = if contents.is_none() { cell.clone() } else { (**element).clone() };
        self.ty(&Type::Map(Box::new(Type::Int), Box::new(value)));
        self.ty(&Type::Map(Box::new(cell), element.clone()));
        self.lowering.prelude.want(part);
        let parts: Vec<s::Expr> = [self.term(array, env)?].into_iter().chain(contents).collect();
        Ok(self.of_type(function, element, parts))
    }

    /// Returns a function of arrays.
    pub(in crate::classic) fn of_array(
        &mut self,
        function: &str,
        array: &'p Expr,
        index: Option<&'p Expr>,
        env: &Env,
    ) -> Fallible<s::Expr> {
        let Type::Array(element) = &array.ty else {
            return self.stuck("an element of what is no array", array.span);
        };
        self.lowering.prelude.want(Part::Array((**element).clone()));
        let mut parts = vec![self.term(array, env)?];
        if let Some(index) = index {
            parts.push(self.term(index, env)?);
        }
        Ok(self.of_type(function, element, parts))
    }

    pub(super) fn of_cell(
        &mut self,
        function: &str,
        cell: &'p Expr,
        env: &Env,
    ) -> Fallible<s::Expr> {
        let Type::ArrayCell(element) = &cell.ty else {
            return self.stuck("the array of what is no cell", cell.span);
        };
        self.lowering.prelude.want(Part::Array((**element).clone()));
        let cell = self.term(cell, env)?;
        Ok(self.of_type(function, element, [cell]))
    }

    pub(super) fn map_read(
        &mut self,
        map: &'p Expr,
        key: &'p Expr,
        env: &Env,
        span: Span,
    ) -> Fallible<s::Expr> {
        match &map.kind {
            ExprKind::ArrayCells(array) => return self.of_array("cell", array, Some(key), env),
            ExprKind::ArrayMap(array) => {
                let cell = self.of_array("cell", array, Some(key), env)?;
                return self.content(&cell_type(&array.ty), cell, env, span);
            }
            _ => {}
        }
        let Type::Map(from, to) = &map.ty else {
            return self.stuck("a read of what is no map", span);
        };
        let (map_term, key_term) = (self.term(map, env)?, self.term_as(key, from, env)?);
        self.ty(&map.ty);
        Ok(self
            .read_of_array(&map_term, &key_term, to)
            .unwrap_or_else(|| self.of_map("rd", (from, to), [map_term, key_term])))
    }

    /// A read of the map of an array is a read of its cell: quantifiers find cells, not maps inside
    /// of quantifiers.
    fn read_of_array(&self, map: &s::Expr, key: &s::Expr, element: &Type) -> Option<s::Expr> {
        let s::ExprKind::Call { name, arguments, .. } = &map.kind else { return None };
        let [array, contents] = &arguments[..] else { return None };
        if *name.name != *format!("contents${}", self.key(element)) {
            return None;
        }
        let cell = self.of_type("cell", element, [array.clone(), key.clone()]);
        let cells = Type::ArrayCell(Box::new(element.clone()));
        Some(self.of_map("rd", (&cells, element), [contents.clone(), cell]))
    }
}
