//! A connection: settings, a transaction, prepared statements.

mod savepoints;

use crate::access::{AccessRanges, TableAccess, View, lock_transaction};
use crate::database::Shared;
use crate::error::{Error, Result};
use crate::fast::{self, Parameters, ProgramResult};
use crate::schema::Schema;
use crate::script;
use crate::statement::{Kind, Prepared, Rows, Statement};
use crate::table::{References, TableStates, Writer};
use gingham_plan::{RouteSetting, SqlError};
use gingham_row_store::{Durability, Savepoint, Snapshot, Transaction};
use gingham_types::Value;
use savepoints::NamedSavepoint;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Prepared statements a connection remembers by their text.
const STATEMENTS_MAX: usize = 512;

/// A connection to a [`crate::Database`]. It has at most one transaction; of all
/// connections of a database one at a time can write.
pub struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) route: RouteSetting,
    pub(crate) durability: Option<Durability>,
    pub(crate) transaction: Arc<Mutex<Option<Transaction>>>,
    pub(crate) mode: Mode,
    states: TableStates,
    references: References,
    /// The schema as this transaction has changed it.
    pub(crate) schema: Option<Arc<Schema>>,
    savepoints: Vec<NamedSavepoint>,
    statements: HashMap<Box<str>, Arc<Prepared>>,
    /// The key of the row that is looked up; kept for its memory.
    pub(crate) locator: Vec<u8>,
}

/// Which transaction a connection is in.
pub(crate) enum Mode {
    Autocommit,
    /// BEGIN READ ONLY: one commit, as it was.
    Reading(Snapshot, Arc<Schema>),
    /// BEGIN.
    Writing,
}

/// What a statement that writes is undone to if it fails.
enum StatementScope {
    /// It has a transaction of its own.
    Transaction,
    /// It changes nothing when it fails.
    Atomic,
    /// It is part of a transaction, whose schema was this.
    Savepoint(Savepoint, Option<Arc<Schema>>),
}

/// The outcome of one statement of a script.
pub struct Outcome<'a> {
    /// The statement's text.
    pub sql: &'a str,
    /// What it gave; errors have their position in the script.
    pub result: Result<Rows>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            route: RouteSetting::Auto,
            durability: None,
            transaction: Arc::new(Mutex::new(None)),
            mode: Mode::Autocommit,
            states: TableStates::default(),
            references: References::default(),
            schema: None,
            savepoints: Vec::new(),
            statements: HashMap::new(),
            locator: Vec::new(),
        }
    }

    /// Prepares the one statement in `sql`.
    ///
    /// # Errors
    /// 42601 if there is none or more than one; whatever is wrong with it.
    pub fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let mut pieces = script::split(sql);
        let Some(piece) = pieces.next() else {
            return Err(SqlError::syntax("there is no statement in the text").into());
        };
        if let Some(second) = pieces.next() {
            let (line, column) = (second.line, second.column);
            let error = SqlError::syntax("there is more than one statement in the text").at(line, column);
            return Err(error.hint("run scripts with exec, or prepare one statement at a time").into());
        }
        self.prepare_piece(piece)
    }

    fn prepare_piece(&mut self, piece: script::Piece<'_>) -> Result<Statement> {
        let prepared = self.prepared(piece.sql).map_err(|error| placed(error, piece))?;
        Ok(Statement { sql: Arc::from(piece.sql), parameters: Arc::new(Parameters::scan(piece.sql)), prepared })
    }

    /// The way to carry out a statement, from the cache if it still holds.
    fn prepared(&mut self, sql: &str) -> Result<Arc<Prepared>> {
        self.prepared_by(sql, true)
    }

    /// As [`Connection::prepared`], without `fast` always by a plan.
    pub(crate) fn prepared_by(&mut self, sql: &str, fast: bool) -> Result<Arc<Prepared>> {
        let (view, schema) = self.view()?;
        // No statement ends in a NUL.
        let key = if fast { Cow::Borrowed(sql) } else { Cow::Owned(format!("{sql}\0")) };
        if let Some(known) = self.statements.get(&*key)
            && self.still_holds(known, &view, &schema)?
        {
            return Ok(Arc::clone(known));
        }
        let prepared = Arc::new(self.compile(sql, fast, &view, &schema)?);
        if self.statements.len() >= STATEMENTS_MAX {
            self.statements.clear();
        }
        self.statements.insert(key.into(), Arc::clone(&prepared));
        Ok(prepared)
    }

    fn still_holds(&self, prepared: &Prepared, view: &View, schema: &Schema) -> Result<bool> {
        if prepared.schema_version != schema.counters.version || prepared.route != self.route {
            return Ok(false);
        }
        match prepared.catalog_version {
            None => Ok(true),
            Some(version) => Ok(view.read(|read| self.shared.catalog(read, schema))?.version == version),
        }
    }

    #[inline(never)]
    fn compile(&mut self, sql: &str, fast: bool, view: &View, schema: &Schema) -> Result<Prepared> {
        let mut prepared = Prepared {
            kind: Kind::Planned(gingham_plan::Statement::Commit),
            columns: Arc::default(),
            schema_version: schema.counters.version,
            catalog_version: None,
            route: self.route,
        };
        if fast && let Some(program) = fast::compile(sql, schema, self.route) {
            prepared.columns = program.output().into();
            prepared.kind = Kind::Program(program);
            return Ok(prepared);
        }
        // Reports need no catalog, and those on a damaged file may find none.
        let is_report = sql.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("pragma"));
        let catalog = if is_report { Arc::default() } else { view.read(|read| self.shared.catalog(read, schema))? };
        let statement = self.shared.plan(sql, &catalog, self.route)?;
        prepared.columns = crate::execute::output_columns(&statement).into();
        prepared.catalog_version = (!is_report).then_some(catalog.version);
        prepared.kind = match statement {
            gingham_plan::Statement::Query(query) => Kind::Query(Arc::new(query)),
            other => Kind::Planned(other),
        };
        Ok(prepared)
    }

    /// Runs a prepared statement with its parameters by position.
    ///
    /// # Errors
    /// 07001 for missing parameters; whatever the statement raises. Nothing of a failed
    /// statement stays.
    pub fn run(&mut self, statement: &mut Statement, parameters: &[Value]) -> Result<Rows> {
        let wanted = statement.parameters.count();
        if parameters.len() != wanted {
            let message = format!("the statement has {wanted} parameters, {} were given", parameters.len());
            return Err(SqlError::new("07001", message).into());
        }
        // What writes reads its own transaction, and no snapshot is needed for it.
        if let Kind::Program(program) = &statement.prepared.kind
            && program.writes()
            && !matches!(self.mode, Mode::Reading(..))
            && self.current_schema_version() == statement.prepared.schema_version
            && self.route == statement.prepared.route
        {
            let prepared = Arc::clone(&statement.prepared);
            return self.run_program(&prepared, parameters, None, None);
        }
        let (view, schema) = self.view()?;
        if !self.still_holds(&statement.prepared, &view, &schema)? {
            statement.prepared = self.prepared(&statement.sql)?;
        }
        let (is_dear, access) = match &statement.prepared.kind {
            Kind::Program(program) if self.route == RouteSetting::Auto => program.weigh(parameters, &view)?,
            _ => (false, None),
        };
        drop(schema);
        let prepared = Arc::clone(&statement.prepared);
        // What a statement does not read itself must not be held while it changes pages.
        let view = matches!(prepared.kind, Kind::Program(_)).then_some(view);
        match &prepared.kind {
            Kind::Program(_) => {
                // A planner that is not there yet is no reason to fail.
                let planned = if is_dear { self.prepared_by(&statement.sql, false).ok() } else { None };
                match planned {
                    Some(planned) => {
                        let (rows, _) = crate::execute::run_prepared(self, &planned, &statement.sql, parameters)?;
                        Ok(rows)
                    }
                    None => self.run_program(&prepared, parameters, view, access),
                }
            }
            Kind::Query(_) => {
                let (rows, prepared) = crate::execute::run_prepared(self, &prepared, &statement.sql, parameters)?;
                statement.prepared = prepared;
                Ok(rows)
            }
            Kind::Planned(planned) => crate::execute::execute(self, &statement.sql, planned, parameters),
        }
    }

    /// Runs a program, one that reads on `view` and, where it is known, by a way of its own.
    fn run_program(
        &mut self,
        prepared: &Prepared,
        parameters: &[Value],
        view: Option<View>,
        access: Option<AccessRanges>,
    ) -> Result<Rows> {
        use crate::fast::Program;
        let Kind::Program(program) = &prepared.kind else {
            return Err(SqlError::internal("a plan was run as a program").into());
        };
        let view = view.filter(|_| program.reads());
        match program {
            Program::Begin => self.begin(false).map(|()| Rows::changes_only(0)),
            Program::Commit => self.commit().map(|()| Rows::changes_only(0)),
            Program::Rollback => self.rollback().map(|()| Rows::changes_only(0)),
            Program::Define(statement) => crate::execute::execute(self, "", statement, &[]),
            program if program.writes() => {
                let changes = self.write(program.is_atomic(), |connection| {
                    connection.with_writer(|writer| program.write(parameters, writer))
                })?;
                Ok(Rows::changes_only(changes))
            }
            program => {
                let view = match view {
                    Some(view) => view,
                    None => self.view()?.0,
                };
                let columns = Arc::clone(&prepared.columns);
                match fast::run(program, parameters, &self.shared, &view, access)? {
                    ProgramResult::Batch(batch) => Ok(Rows::batches(columns, batch, 0)),
                    ProgramResult::Source(source) => {
                        let rows = Rows::source(columns, source);
                        if self.in_transaction() { rows.materialize() } else { Ok(rows) }
                    }
                }
            }
        }
    }

    /// Runs the one statement in `sql`.
    ///
    /// # Errors
    /// As [`Connection::prepare`] and [`Connection::run`].
    pub fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<Rows> {
        let mut statement = self.prepare(sql)?;
        self.run(&mut statement, parameters)
    }

    /// Runs every statement of a script in order and hands each outcome over as it
    /// comes. `outcome` says whether to go on.
    pub fn execute_script(&mut self, sql: &str, outcome: &mut dyn FnMut(Outcome<'_>) -> bool) {
        for piece in script::split(sql) {
            let result = match self.prepare_piece(piece) {
                Ok(mut statement) => self.run(&mut statement, &[]).map_err(|error| placed(error, piece)),
                Err(error) => Err(error),
            };
            if !outcome(Outcome { sql: piece.sql, result }) {
                return;
            }
        }
    }

    /// Whether BEGIN has been run and neither COMMIT nor ROLLBACK.
    pub const fn in_transaction(&self) -> bool {
        !matches!(self.mode, Mode::Autocommit)
    }

    /// The state that statements read now, and its schema.
    pub(crate) fn view(&self) -> Result<(View, Arc<Schema>)> {
        match &self.mode {
            Mode::Autocommit => {
                let (snapshot, schema) = self.shared.snapshot()?;
                Ok((View::Snapshot(snapshot), schema))
            }
            Mode::Reading(snapshot, schema) => Ok((View::Snapshot(snapshot.clone()), Arc::clone(schema))),
            Mode::Writing => Ok((View::Transaction(Arc::clone(&self.transaction)), self.write_schema())),
        }
    }

    pub(crate) fn current_schema_version(&self) -> u64 {
        match &self.schema {
            Some(schema) => schema.counters.version,
            None => self.shared.schema_version(),
        }
    }

    /// The schema as the write transaction sees it.
    pub(crate) fn write_schema(&self) -> Arc<Schema> {
        self.schema.clone().unwrap_or_else(|| self.shared.schema())
    }

    /// The tables as the current transaction sees them, for running a query.
    pub(crate) fn table_access(&self) -> Result<TableAccess> {
        // Also in autocommit a statement that writes reads its own transaction.
        let is_writing = lock_transaction(&self.transaction).is_some();
        let (view, schema) = if is_writing {
            (View::Transaction(Arc::clone(&self.transaction)), self.write_schema())
        } else {
            self.view()?
        };
        Ok(TableAccess { shared: Arc::clone(&self.shared), schema, view })
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// 25001 inside a transaction; 55006 if another connection is writing.
    pub fn begin(&mut self, read_only: bool) -> Result<()> {
        if self.in_transaction() {
            return Err(SqlError::new("25001", "a transaction is already in progress")
                .hint("use SAVEPOINT for a transaction inside a transaction")
                .into());
        }
        if read_only || self.shared.read_only {
            let (snapshot, schema) = self.shared.snapshot()?;
            self.mode = Mode::Reading(snapshot, schema);
        } else {
            self.open_transaction()?;
            self.mode = Mode::Writing;
        }
        Ok(())
    }

    fn open_transaction(&mut self) -> Result<()> {
        let transaction = self.shared.store.begin()?;
        *lock_transaction(&self.transaction) = Some(transaction);
        Ok(())
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// 25P01 outside a transaction; 40003 if the commit is in doubt.
    pub fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.mode, Mode::Autocommit) {
            Mode::Autocommit => Err(no_transaction()),
            Mode::Reading(..) => Ok(()),
            Mode::Writing => self.commit_transaction(),
        }
    }

    #[inline(never)]
    fn commit_transaction(&mut self) -> Result<()> {
        let finished = self.with_writer(|writer| writer.finish_loads());
        self.savepoints.clear();
        self.states.clear();
        let schema = self.schema.take();
        let transaction = lock_transaction(&self.transaction).take();
        finished?;
        if let Some(transaction) = transaction {
            let durability = self.durability;
            self.shared.publish(schema, || Ok(transaction.commit(durability)?))?;
        }
        Ok(())
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// 25P01 outside a transaction.
    pub fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.mode, Mode::Autocommit) {
            Mode::Autocommit => Err(no_transaction()),
            Mode::Reading(..) => Ok(()),
            Mode::Writing => {
                self.drop_transaction();
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn drop_transaction(&mut self) {
        if let Some(transaction) = lock_transaction(&self.transaction).take() {
            transaction.rollback();
        }
        self.savepoints.clear();
        self.states.clear();
        self.references = References::default();
        self.schema = None;
    }

    fn writing(&self) -> Result<()> {
        match self.mode {
            Mode::Writing => Ok(()),
            Mode::Reading(..) => Err(SqlError::new("25006", "the transaction is READ ONLY").into()),
            Mode::Autocommit => Err(no_transaction()),
        }
    }

    /// Runs a statement that writes: in a transaction of its own, or inside the open one
    /// and undone if it fails. `atomic` promises that it changes nothing when it fails.
    pub(crate) fn write<R>(&mut self, atomic: bool, f: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let scope = self.begin_statement(atomic)?;
        let result = f(self);
        self.end_statement(scope, result.is_ok())?;
        result
    }

    #[inline(never)]
    fn begin_statement(&mut self, atomic: bool) -> Result<StatementScope> {
        match self.mode {
            Mode::Reading(..) => Err(SqlError::new("25006", "the transaction is READ ONLY").into()),
            Mode::Autocommit => {
                self.open_transaction()?;
                Ok(StatementScope::Transaction)
            }
            Mode::Writing if atomic => {
                // An import in progress may be filling a row group.
                if self.states.is_loading_any() {
                    self.with_writer(|writer| writer.finish_loads())?;
                }
                Ok(StatementScope::Atomic)
            }
            Mode::Writing => {
                self.with_writer(|writer| writer.finish_loads())?;
                let savepoint = self.with_writer(|writer| Ok(writer.transaction.savepoint()?))?;
                Ok(StatementScope::Savepoint(savepoint, self.schema.clone()))
            }
        }
    }

    /// Ends a statement that writes: settles and keeps what it has done, or undoes it.
    #[inline(never)]
    fn end_statement(&mut self, scope: StatementScope, succeeded: bool) -> Result<()> {
        match scope {
            StatementScope::Atomic => {
                if !succeeded {
                    self.references = References::default();
                }
                Ok(())
            }
            StatementScope::Transaction => {
                let settled = if succeeded { self.settle() } else { Ok(()) };
                if succeeded && settled.is_ok() {
                    return self.commit_transaction();
                }
                self.drop_transaction();
                settled
            }
            StatementScope::Savepoint(savepoint, schema) => {
                let settled = if succeeded {
                    self.settle().and_then(|()| self.with_writer(|writer| writer.finish_loads()))
                } else {
                    Ok(())
                };
                if succeeded && settled.is_ok() {
                    return self.with_writer(|writer| Ok(writer.transaction.release(savepoint)?));
                }
                self.states.clear();
                self.references = References::default();
                self.schema = schema;
                self.with_writer(|writer| Ok(writer.transaction.rollback_to(&savepoint)?))?;
                settled
            }
        }
    }

    /// Carries out and checks what a statement's changes mean for rows that refer to them.
    #[inline(never)]
    fn settle(&mut self) -> Result<()> {
        if self.references.is_empty() {
            return Ok(());
        }
        let schema = self.write_schema();
        let settled = self.with_writer(|writer| writer.settle(&schema));
        self.references = References::default();
        settled
    }

    /// Calls `f` with the open write transaction.
    pub(crate) fn with_writer<R>(&mut self, f: impl FnOnce(&mut Writer<'_>) -> Result<R>) -> Result<R> {
        let mut guard = lock_transaction(&self.transaction);
        let transaction = guard.as_mut().ok_or_else(no_transaction)?;
        f(&mut Writer { shared: &self.shared, transaction, states: &mut self.states, references: &mut self.references })
    }

    /// Writes rows that wait for a full row group, if a write transaction is open: what
    /// follows reads the transaction.
    pub(crate) fn finish_loads_if_writing(&mut self) -> Result<()> {
        let is_writing = lock_transaction(&self.transaction).is_some();
        if is_writing { self.with_writer(|writer| writer.finish_loads()) } else { Ok(()) }
    }

    /// Calls `f` with the open write transaction and the schema to change.
    pub(crate) fn with_schema<R>(&mut self, f: impl FnOnce(&mut Schema, &mut Writer<'_>) -> Result<R>) -> Result<R> {
        let mut schema = Schema::clone(&self.write_schema());
        let result = self.with_writer(|writer| f(&mut schema, writer))?;
        self.schema = Some(Arc::new(schema));
        Ok(result)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.drop_transaction();
    }
}

fn no_transaction() -> Error {
    SqlError::new("25P01", "no transaction is in progress").into()
}

/// An error with its position in the script instead of the statement.
fn placed(error: Error, piece: script::Piece<'_>) -> Error {
    match error {
        Error::Sql(mut error) => {
            error.position = error.position.map(|position| piece.position(position));
            Error::Sql(error)
        }
        other => other,
    }
}
