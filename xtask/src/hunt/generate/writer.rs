//! The program that is being written, and its variables.
//!
//! Invariant: a statement that the model refuses is not kept.

use crate::hunt::Language;
use crate::hunt::model;
use crate::hunt::program::{
    Block, Dummy, Expr, Field, Flavour, Function, FunctionId, Item, Level, Num, Place, Program, Stmt,
    Storage, Struct, Type, Var, VarId,
};
use crate::hunt::random::Random;

/// A variable that holds numbers, all of one kind.
#[derive(Clone, Debug)]
pub struct Data {
    /// The variable.
    pub var: VarId,
    /// The kind.
    pub num: Num,
    /// The extents; of a pointer, how many elements it leads to; none for a number.
    pub extents: Vec<usize>,
    /// It is a pointer.
    pub is_pointer: bool,
}

impl Data {
    /// How many elements there are.
    pub fn count(&self) -> usize {
        self.extents.iter().product()
    }

    /// An element.
    pub fn at(&self, subscripts: Vec<Expr>) -> Place {
        Place::Var(self.var).at(subscripts)
    }

    /// All of it, as an item of a data clause.
    pub fn item(&self) -> Item {
        let section = match self.is_pointer {
            true => vec![(Expr::Const(0), Expr::Const(self.extents[0] as i64))],
            false => Vec::new(),
        };
        Item { place: Place::Var(self.var), section, whole: true }
    }

    /// Some rows of it, as an item.
    pub fn rows(&self, low: i64, count: i64) -> Item {
        let first = (Expr::Const(low), Expr::Const(count));
        let rest = self.extents.iter().skip(1).map(|extent| (Expr::Const(0), Expr::Const(*extent as i64)));
        let whole = low == 0 && count == self.extents[0] as i64;
        Item { place: Place::Var(self.var), section: std::iter::once(first).chain(rest).collect(), whole }
    }
}

/// A statement that is not finished: what it becomes of its block.
type Shell = Box<dyn Fn(Block) -> Stmt>;

/// Writes a program.
pub struct Writer {
    /// Chooses.
    pub random: Random,
    /// The language.
    pub language: Language,
    /// The program, except the body of its entry.
    pub program: Program,
    open: Vec<(Block, Option<Shell>)>,
    shown: usize,
    names: usize,
    /// What the program computes with.
    pub data: Vec<Data>,
}

impl Writer {
    /// An empty program.
    pub fn new(random: Random, language: Language) -> Writer {
        let mut program = Program::default();
        program.functions.push(Function {
            name: "entry".to_owned(),
            parameters: Vec::new(),
            value: None,
            routine: None,
            declares: Vec::new(),
            is_one_declare: true,
            body: Vec::new(),
            result: None,
        });
        let open = vec![(Vec::new(), None)];
        Writer { random, language, program, open, shown: 0, names: 0, data: Vec::new() }
    }

    /// Whether it writes Fortran.
    pub fn is_fortran(&self) -> bool {
        self.language == Language::Fortran
    }

    /// The program, finished.
    pub fn finish(mut self) -> Program {
        while self.open.len() > 1 {
            self.close();
        }
        self.assembled()
    }

    /// The program as it would be if it ended here.
    fn assembled(&self) -> Program {
        let mut program = self.program.clone();
        let mut inner: Option<Stmt> = None;
        for (block, shell) in self.open.iter().rev() {
            let mut block = block.clone();
            block.extend(inner.take());
            match shell {
                Some(shell) => inner = Some(shell(block)),
                None => program.functions[0].body = block,
            }
        }
        program
    }

    fn is_defined(&self) -> bool {
        model::expected(&self.assembled()).is_ok()
    }

    /// Adds a statement, if the program is defined with it.
    pub fn offer(&mut self, stmt: Stmt) -> bool {
        let last = self.open.len() - 1;
        self.open[last].0.push(stmt);
        let is_defined = self.is_defined();
        if !is_defined {
            self.open[last].0.pop();
        }
        is_defined
    }

    /// Adds a statement that needs no proof.
    pub fn push(&mut self, stmt: Stmt) {
        let last = self.open.len() - 1;
        self.open[last].0.push(stmt);
    }

    /// Begins a statement with a block, if the program is defined with it.
    pub fn open(&mut self, shell: impl Fn(Block) -> Stmt + 'static) -> bool {
        self.open.push((Vec::new(), Some(Box::new(shell))));
        let is_defined = self.is_defined();
        if !is_defined {
            self.open.pop();
        }
        is_defined
    }

    /// Ends the statement that was begun last; statements that keep it from ending go.
    pub fn close(&mut self) {
        while !self.is_defined() {
            let last = self.open.len() - 1;
            if self.open[last].0.pop().is_none() {
                break;
            }
        }
        if let Some((block, Some(shell))) = self.open.pop() {
            self.push(shell(block));
        }
    }

    /// How deep statements are nested here.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// A name that no other variable has.
    fn name(&mut self, start: &str) -> String {
        self.names += 1;
        format!("{start}{}", self.names)
    }

    /// A variable of any kind.
    pub fn variable(&mut self, start: &str, ty: Type, storage: Storage) -> VarId {
        let name = self.name(start);
        self.program.vars.push(Var {
            name,
            ty,
            storage,
            flavour: Flavour::Plain,
            restrict: false,
            constant: false,
            lower: 0,
            dummy: Dummy::Assumed,
            in_loop: false,
        });
        self.program.vars.len() - 1
    }

    /// A variable that counts; in C often one of its loop.
    pub fn counter(&mut self) -> VarId {
        let kind = if self.random.chance(15) { Num::Long } else { Num::Int };
        let var = self.variable("i", Type::Num(kind), Storage::Local);
        self.program.vars[var].in_loop = !self.is_fortran() && self.random.chance(80);
        var
    }

    /// A kind of number for data.
    pub fn num(&mut self) -> Num {
        self.random.pick(&[Num::Int, Num::Int, Num::Double, Num::Double, Num::Single, Num::Long])
    }

    /// A local number with a value.
    pub fn scalar(&mut self, num: Num) -> VarId {
        let var = self.variable("s", Type::Num(num), Storage::Local);
        let value = Expr::Const(self.random.between(1, 9));
        self.push(Stmt::Assign { place: Place::Var(var), op: None, value, atomic: false });
        var
    }

    /// An array or a pointer with values.
    pub fn array(&mut self, extents: &[usize], num: Num, storage: Storage) -> Data {
        let is_pointer = extents.len() == 1 && storage == Storage::Local && self.random.chance(50);
        let ty = if is_pointer { Type::pointer(num) } else { Type::array(extents, num) };
        let start = if is_pointer { "p" } else { "a" };
        let var = self.variable(start, ty, storage);
        self.program.vars[var].lower = if self.random.chance(30) { 1 } else { 0 };
        let place = Place::Var(var);
        if is_pointer {
            self.program.vars[var].flavour = match (self.is_fortran(), self.random.chance(30)) {
                (false, _) => Flavour::Plain,
                (true, true) => Flavour::FortranPointer,
                (true, false) => Flavour::Allocatable,
            };
            self.push(Stmt::Allocate { place: place.clone(), count: extents[0] });
        }
        let data = Data { var, num, extents: extents.to_vec(), is_pointer };
        self.fill(&data);
        data
    }

    /// Gives data new values on the host.
    pub fn fill(&mut self, data: &Data) -> bool {
        let stmt = Stmt::Fill {
            place: Place::Var(data.var),
            count: data.count(),
            factor: self.random.between(1, 7),
            add: self.random.between(0, 9),
            modulus: self.random.pick(&[7, 11, 13, 17]),
        };
        self.offer(stmt)
    }

    /// Prints data, if the host knows all of it.
    pub fn show(&mut self, data: &Data) -> bool {
        self.show_place(Place::Var(data.var), data.count().max(1))
    }

    /// Prints a place, if the host knows all of it.
    pub fn show_place(&mut self, place: Place, count: usize) -> bool {
        self.shown += 1;
        let is_kept = self.offer(Stmt::Show { id: self.shown, place, count });
        self.shown -= usize::from(!is_kept);
        is_kept
    }

    /// Prints all data that the host knows.
    pub fn show_all(&mut self) {
        for data in self.data.clone() {
            self.show(&data);
        }
    }

    /// A structure.
    pub fn structure(&mut self, fields: Vec<(&str, Type, Flavour)>) -> usize {
        let name = self.name("s");
        let fields = fields
            .into_iter()
            .map(|(name, ty, flavour)| Field { name: name.to_owned(), ty, flavour })
            .collect();
        self.program.structs.push(Struct { name, fields });
        self.program.structs.len() - 1
    }

    /// A parameter of a function to come.
    pub fn parameter(&mut self, start: &str, ty: Type, flavour: Flavour) -> VarId {
        let var = self.variable(start, ty, Storage::Parameter);
        self.program.vars[var].flavour = flavour;
        var
    }

    /// Adds a function.
    pub fn function(
        &mut self,
        parameters: Vec<VarId>,
        value: Option<Num>,
        routine: Option<Level>,
        body: Block,
        result: Option<Expr>,
    ) -> FunctionId {
        let name = self.name("f");
        let function = Function {
            name,
            parameters,
            value,
            routine,
            declares: Vec::new(),
            is_one_declare: true,
            body,
            result,
        };
        self.program.functions.push(function);
        self.program.functions.len() - 1
    }
}
