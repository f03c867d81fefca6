//! Roles of variables that no clause lists: examples.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Class, Motion, Role, Rule, Unlisted, Use, implied};

fn written() -> Use {
    Use { written: true, ..Use::default() }
}

fn exposed() -> Use {
    Use { exposed: true, ..written() }
}

#[test]
fn scalars() {
    let of = |known: Unlisted| implied(&Unlisted { class: Some(Class::Scalar), ..known });
    assert_eq!(of(Unlisted::default()), (Role::Firstprivate, Rule::Scalar));
    assert_eq!(of(Unlisted { used: written(), ..Unlisted::default() }), (Role::Private, Rule::Temporary));
    assert_eq!(of(Unlisted { used: exposed(), ..Unlisted::default() }), (Role::Firstprivate, Rule::Scalar));
    let visible = Unlisted { is_visible: true, is_wanted: true, used: written(), ..Unlisted::default() };
    assert_eq!(of(visible), (Role::Mapped(Motion::Present), Rule::Visible));
    let wanted = Unlisted { is_visible: false, ..visible };
    assert_eq!(of(wanted), (Role::Mapped(Motion::Copy), Rule::KernelsScalar));
}

#[test]
fn members() {
    let member = Unlisted { is_member: true, may_have_object: true, ..Unlisted::default() };
    assert_eq!(implied(&member), (Role::Member, Rule::Member));
    let assigned = Unlisted { used: written(), ..member };
    assert_eq!(implied(&assigned), (Role::Mapped(Motion::Copy), Rule::Member));
    let constant = Unlisted { is_const: true, ..member };
    assert_eq!(implied(&constant), (Role::Firstprivate, Rule::Scalar));
}

#[test]
fn arrays() {
    let of = |known: Unlisted| implied(&Unlisted { class: Some(Class::Array), ..known });
    let array = Unlisted::default();
    assert_eq!(of(array), (Role::Mapped(Motion::Copy), Rule::Array));
    assert_eq!(of(Unlisted { is_input: true, ..array }), (Role::Mapped(Motion::Copyin), Rule::Array));
    let present = Unlisted { is_default_present: true, is_input: true, ..array };
    assert_eq!(of(present), (Role::Mapped(Motion::Present), Rule::DefaultPresent));
    let parameter = Unlisted { is_array_parameter: true, ..present };
    assert_eq!(of(parameter), (Role::Mapped(Motion::Find), Rule::Pointer));
    assert_eq!(of(Unlisted { is_visible: true, ..present }), (Role::Mapped(Motion::Find), Rule::Visible));
}

#[test]
fn pointers() {
    let of = |used: Use| implied(&Unlisted { class: Some(Class::Pointer), used, ..Unlisted::default() });
    assert_eq!(of(Use::default()), (Role::Mapped(Motion::Find), Rule::Pointer));
    assert_eq!(of(exposed()), (Role::Firstprivate, Rule::Pointer));
    let led = Use { part_read: true, ..written() };
    assert_eq!(of(led), (Role::Private, Rule::Temporary));
    assert_eq!(of(Use { exposed: true, ..led }), (Role::Mapped(Motion::Find), Rule::Pointer));
}
