//! Stand-in until the pages are here.
use crate::diag::Code;
use std::fmt;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place { Target, MapLeaf, Teams, LevelLeaf, Parallel, Every, Directive }
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy { ThreadLimit, Finalize, PushDown, WaitBefore, Levels, ChooseDevice, DeclareTarget, DeclareTargetData }
#[derive(Clone, Debug)]
pub enum TemplateArg { None, List, Expr(String), Literal(String) }
#[derive(Clone, Debug)]
pub struct Template { pub clause: String, pub modifier: Option<String>, pub argument: TemplateArg }
#[derive(Clone, Debug)]
pub enum Action { Emit { template: Template, on: Place }, Directive(&'static str), Statement(String), Strategy(Strategy), Drop, Refuse }
#[derive(Clone, Debug)]
pub struct RowId(pub String);
impl fmt::Display for RowId { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) } }
#[derive(Clone, Debug)]
pub struct Row { pub id: RowId, pub action: Action, pub tell: Option<Code> }
pub struct Situation { on: String, facts: Vec<(String, String)> }
impl Situation {
    pub fn new(on: &str) -> Situation { Situation { on: on.into(), facts: vec![] } }
    pub fn fact(mut self, f: &str, v: &str) -> Situation { self.facts.push((f.into(), v.into())); self }
    fn get(&self, f: &str) -> &str { self.facts.iter().find(|x| x.0 == f).map_or("", |x| x.1.as_str()) }
}
pub struct Rules;
pub fn rules() -> &'static Rules { &Rules }
fn t(c: &str, m: Option<&str>, a: TemplateArg) -> Action { Action::Emit { template: Template { clause: c.into(), modifier: m.map(Into::into), argument: a }, on: if c == "num_teams" { Place::Teams } else { Place::Directive } } }
impl Rules {
    pub fn row(&self, entry: &str, s: &Situation, _v: u8) -> Option<&'static Row> {
        use TemplateArg::{List, Expr, Literal};
        let on = s.on.as_str();
        let e = || Expr("{expr}".into());
        let (a, tell): (Action, u16) = match entry {
            "clause/copy" | "implicit/reduction-copy" | "implicit/scalar-visible" | "implicit/scalar-kernels" | "implicit/array" => (t("map", Some("tofrom"), List), 0),
            "clause/copyin" => (t("map", Some("to"), List), if s.get("modifier") == "readonly" { 206 } else { 0 }),
            "clause/copyout" if s.get("modifier") == "zero" => (Action::Refuse, 301),
            "clause/create" if s.get("modifier") == "zero" => (Action::Refuse, 301),
            "clause/copyout" => (t("map", Some("from"), List), 0),
            "clause/create" if on == "declare" => (Action::Drop, 0),
            "clause/create" => (t("map", Some("alloc"), List), 0),
            "clause/delete" => (t("map", Some("release"), List), 0),
            "clause/present" => (t("map", Some("alloc"), List), 201),
            "clause/deviceptr" => (t("is_device_ptr", None, List), 0),
            "clause/attach" | "clause/detach" => (Action::Drop, 221),
            "clause/use_device" if s.get("item") == "array" => (Action::Refuse, 303),
            "clause/use_device" => (t("use_device_ptr", None, List), 0),
            "clause/host" | "clause/self" if on == "update" => (t("from", None, List), 0),
            "clause/device" => (t("to", None, List), 0),
            "clause/if" if matches!(on, "init" | "shutdown" | "wait") => (Action::Drop, 0),
            "clause/if" => (t("if", None, e()), 0),
            "clause/self" => (t("if", Some("target"), if s.get("argument") == "absent" { Literal("0".into()) } else { Expr("!({expr})".into()) }), 0),
            "clause/async" | "clause/wait" => (Action::Drop, 205),
            "clause/num_gangs" => (t("num_teams", None, e()), 0),
            "clause/num_workers" | "clause/vector_length" => (Action::Strategy(Strategy::ThreadLimit), 0),
            "clause/private" => (t("private", None, List), 0),
            "clause/firstprivate" => (t("firstprivate", None, List), 0),
            "clause/reduction" | "implicit/reduction-nested" => (t("reduction", Some("{op}"), List), 0),
            "implicit/scalar-temporary" if true => return SCALAR(s),
            "implicit/scalar-parallel" => (t("firstprivate", None, List), 0),
            "clause/default" => (Action::Drop, if s.get("argument") == "none" { 202 } else { 203 }),
            "clause/device_num" if on == "set" => (Action::Statement("omp_set_default_device({expr});".into()), 0),
            "clause/device_num" => (Action::Drop, 0),
            "clause/default_async" | "clause/device_type" => (Action::Drop, 208),
            "clause/read" | "clause/write" | "clause/update" | "clause/capture" => (t(&entry[7..], None, TemplateArg::None), 0),
            "clause/finalize" => (Action::Strategy(Strategy::Finalize), 0),
            "clause/if_present" | "clause/nohost" => (Action::Drop, 0),
            "clause/tile" => (Action::Drop, 214),
            "directive/data" => (Action::Directive("target data"), 0),
            "directive/enter-data" => (Action::Directive("target enter data"), 0),
            "directive/exit-data" => (Action::Directive("target exit data"), 0),
            "directive/host_data" => (Action::Directive("target data"), 0),
            "directive/update" => (Action::Directive("target update"), 204),
            "directive/wait" => (Action::Directive("taskwait"), if s.get("argument") == "runtime" { 207 } else { 0 }),
            "directive/atomic" => (Action::Directive("atomic"), 0),
            "directive/init" | "directive/shutdown" => (Action::Drop, 208),
            "directive/set" => (Action::Drop, 0),
            "directive/declare" => (Action::Strategy(Strategy::DeclareTargetData), 0),
            "directive/routine" => (Action::Strategy(Strategy::DeclareTarget), 0),
            _ => return Option::None,
        };
        Some(Box::leak(Box::new(Row { id: RowId(entry.into()), action: a, tell: (tell > 0).then_some(Code(tell)) })))
    }
}
#[allow(non_snake_case)]
fn SCALAR(s: &Situation) -> Option<&'static Row> {
    let c = if s.get("argument") == "firstprivate" { "firstprivate" } else { "private" };
    Some(Box::leak(Box::new(Row { id: RowId("implicit/scalar-temporary".into()), action: t(c, None, TemplateArg::List), tell: None })))
}
pub struct ProfileRules { pub schedule: Option<String>, pub ragged_threads: Option<u32>, pub tight_nest: String, pub short_trip: u32 }
pub fn profile(name: &str) -> ProfileRules {
    ProfileRules {
        schedule: (name == "generic").then(|| "static,1".to_owned()),
        ragged_threads: (name == "clang").then_some(128),
        tight_nest: if name == "clang" { "split" } else { "collapse" }.into(),
        short_trip: 32,
    }
}
